/** Turns one block of stored bytes, from `at`, into values from `to`. */
export type ReadBlock = (bytes: Uint8Array, at: number, values: Float32Array, to: number) => void

type Half = (bytes: Uint8Array, at: number) => number
const { fround } = Math

/** The types with 256 values in a block, whose parts have small scales of their own under those of the block. */
export function superBlocks(half: Half): Record<string, ReadBlock> {
  return {
    Q4_K: (bytes, at, values, to) => {
      eightParts(half, bytes, at, (part, scale, least) => {
        const levels = at + 16 + 32 * (part >>> 1)
        for (let i = 0; i < 32; i++) {
          const level = (bytes[levels + i]! >>> (4 * (part & 1))) & 15
          values[to + 32 * part + i] = fround(scale * level) - least
        }
      })
    },
    Q5_K: (bytes, at, values, to) => {
      eightParts(half, bytes, at, (part, scale, least) => {
        const levels = at + 48 + 32 * (part >>> 1)
        for (let i = 0; i < 32; i++) {
          const lower = (bytes[levels + i]! >>> (4 * (part & 1))) & 15
          const fifth = ((bytes[at + 16 + i]! >>> part) & 1) << 4
          values[to + 32 * part + i] = fround(scale * (lower | fifth)) - least
        }
      })
    },
    Q6_K: (bytes, at, values, to) => {
      const whole = half(bytes, at + 208)
      for (let i = 0; i < 256; i++) {
        // Two halves of 128; in each, four rows of 32 share 64 bytes of lower and 32 bytes of upper bits.
        const [side, row, column] = [i >>> 7, (i >>> 5) & 3, i & 31]
        const lower = (bytes[at + 64 * side + 32 * (row & 1) + column]! >>> (4 * (row >>> 1))) & 15
        const upper = (bytes[at + 128 + 32 * side + column]! >>> (2 * row)) & 3
        const scale = (bytes[at + 192 + (i >>> 4)]! << 24) >> 24
        values[to + i] = fround(whole * scale) * ((lower | (upper << 4)) - 32)
      }
    },
  }
}

/** Q4_K and Q5_K: eight parts, each with a scale and a least value of six bits, packed into twelve bytes. */
function eightParts(
  half: Half,
  bytes: Uint8Array,
  at: number,
  read: (part: number, scale: number, least: number) => void,
): void {
  const [wholeScale, wholeLeast] = [half(bytes, at), half(bytes, at + 2)]
  for (let part = 0; part < 8; part++) {
    const { scale, least } = sixBits(bytes, at + 4, part)
    read(part, fround(wholeScale * scale), fround(wholeLeast * least))
  }
}

/** The first four parts have bytes of their own; the upper bits of these hold the upper bits of the last four. */
function sixBits(bytes: Uint8Array, at: number, part: number): { scale: number; least: number } {
  if (part < 4) return { scale: bytes[at + part]! & 63, least: bytes[at + 4 + part]! & 63 }
  const shared = bytes[at + 4 + part]!
  return {
    scale: (shared & 15) | ((bytes[at + part - 4]! >>> 6) << 4),
    least: (shared >>> 4) | ((bytes[at + part]! >>> 6) << 4),
  }
}
