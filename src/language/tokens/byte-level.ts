/**
 * GPT-2's alphabet: each of the 256 bytes as one printable character, so that BPE over characters is BPE over bytes.
 * Printable Latin-1 maps to itself; the rest is moved to U+0100 and up.
 */
export const byteAlphabet: readonly string[] = (() => {
  const printable = (byte: number): boolean =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae
  let moved = 0
  return Array.from({ length: 256 }, (_, byte) =>
    String.fromCharCode(printable(byte) ? byte : 0x100 + moved++),
  )
})()

const byteOfCharacter = new Map(byteAlphabet.map((character, byte) => [character, byte]))

const utf8 = new TextEncoder()

/** Converts a text to the byte characters of its UTF-8 encoding. */
export function byteCharacters(text: string): string {
  let result = ''
  for (const byte of utf8.encode(text)) result += byteAlphabet[byte]!
  return result
}

/** The bytes represented by byte characters; undefined if the text contains others. */
export function bytesOfCharacters(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(text.length)
  for (let index = 0; index < text.length; index++) {
    const byte = byteOfCharacter.get(text[index]!)
    if (byte === undefined) return undefined
    bytes[index] = byte
  }
  return bytes
}

/**
 * For each UTF-8 byte of a text, the UTF-16 range of the character it belongs to. Null for plain ASCII, where
 * byte i is unit i.
 */
export function characterOfByte(text: string): { starts: Int32Array; ends: Int32Array } | null {
  const size = Buffer.byteLength(text)
  if (size === text.length) return null
  const starts = new Int32Array(size)
  const ends = new Int32Array(size)
  let unit = 0
  let byte = 0
  for (const character of text) {
    const code = character.codePointAt(0)!
    const width = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
    starts.fill(unit, byte, byte + width)
    ends.fill(unit + character.length, byte, byte + width)
    unit += character.length
    byte += width
  }
  return { starts, ends }
}
