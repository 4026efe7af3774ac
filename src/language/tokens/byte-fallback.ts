/**
 * Encodes a character without its own token as byte tokens (<0xE2>). Undefined if one of its bytes has no token: some
 * vocabularies contain only part of the 256.
 */
export function createByteFallback(
  vocabulary: ReadonlyMap<string, number>,
): (character: string) => number[] | undefined {
  const byteIds = Array.from({ length: 256 }, (_, byte) =>
    vocabulary.get(`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`),
  )
  return (character) => {
    const ids: number[] = []
    for (const byte of Buffer.from(character)) {
      const id = byteIds[byte]
      if (id === undefined) return undefined
      ids.push(id)
    }
    return ids
  }
}
