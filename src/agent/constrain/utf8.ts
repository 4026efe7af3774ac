/**
 * The character encoded by UTF-8 bytes: its code point, 'partial' if they are only a prefix, 'invalid' if they can
 * never become one.
 */
export function readCharacter(bytes: ArrayLike<number>): number | 'partial' | 'invalid' {
  const first = bytes[0]!
  if (first < 0x80) return bytes.length === 1 ? first : 'invalid'
  const length = characterLength(first)
  if (length === 0 || bytes.length > length) return 'invalid'
  let code = first & (0x7f >> length)
  for (let at = 1; at < bytes.length; at++) {
    if (!isContinuation(bytes[at]!)) return 'invalid'
    code = (code << 6) | (bytes[at]! & 0x3f)
  }
  // Bounds of the code points that a prefix can lead to: no overlong encodings, no surrogates, nothing beyond
  // Unicode.
  const missing = 6 * (length - bytes.length)
  const [low, high] = [code * 2 ** missing, (code + 1) * 2 ** missing - 1]
  const least = length === 2 ? 0x80 : length === 3 ? 0x800 : 0x10000
  if (high < least || low > 0x10ffff || (low >= 0xd800 && high <= 0xdfff)) return 'invalid'
  return missing === 0 ? code : 'partial'
}

export function isContinuation(byte: number): boolean {
  return byte >= 0x80 && byte < 0xc0
}

/** Length of the character that starts with this byte; 0 if none does. */
export function characterLength(first: number): number {
  if (first < 0x80) return 1
  if (first < 0xc2 || first > 0xf4) return 0
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
}
