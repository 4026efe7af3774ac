/** Decodes one block of bytes at `at` to values at `to`. */
export type ReadBlock = (bytes: Uint8Array, at: number, values: Float32Array, to: number) => void

type Half = (bytes: Uint8Array, at: number) => number
const { fround } = Math

/** Types with 256 values per block (k-quants), whose sub-blocks have their own scales. */
export function kQuants(half: Half): Record<string, ReadBlock> {
  return {
    Q4_K: (bytes, at, values, to) => {
      eightSubBlocks(half, bytes, at, (subBlock, scale, minimum) => {
        const levels = at + 16 + 32 * (subBlock >>> 1)
        for (let i = 0; i < 32; i++) {
          const level = (bytes[levels + i]! >>> (4 * (subBlock & 1))) & 15
          values[to + 32 * subBlock + i] = fround(scale * level) - minimum
        }
      })
    },
    Q5_K: (bytes, at, values, to) => {
      eightSubBlocks(half, bytes, at, (subBlock, scale, minimum) => {
        const levels = at + 48 + 32 * (subBlock >>> 1)
        for (let i = 0; i < 32; i++) {
          const lower = (bytes[levels + i]! >>> (4 * (subBlock & 1))) & 15
          const fifth = ((bytes[at + 16 + i]! >>> subBlock) & 1) << 4
          values[to + 32 * subBlock + i] = fround(scale * (lower | fifth)) - minimum
        }
      })
    },
    Q6_K: (bytes, at, values, to) => {
      const superScale = half(bytes, at + 208)
      for (let i = 0; i < 256; i++) {
        // Two halves of 128; in each, four rows of 32 share 64 bytes of lower and 32 bytes of upper bits.
        const [side, row, column] = [i >>> 7, (i >>> 5) & 3, i & 31]
        const lower = (bytes[at + 64 * side + 32 * (row & 1) + column]! >>> (4 * (row >>> 1))) & 15
        const upper = (bytes[at + 128 + 32 * side + column]! >>> (2 * row)) & 3
        const scale = (bytes[at + 192 + (i >>> 4)]! << 24) >> 24
        values[to + i] = fround(superScale * scale) * ((lower | (upper << 4)) - 32)
      }
    },
  }
}

/** Q4_K and Q5_K: eight sub-blocks, each with a 6-bit scale and minimum, packed into twelve bytes. */
function eightSubBlocks(
  half: Half,
  bytes: Uint8Array,
  at: number,
  read: (subBlock: number, scale: number, minimum: number) => void,
): void {
  const [blockScale, blockMinimum] = [half(bytes, at), half(bytes, at + 2)]
  for (let subBlock = 0; subBlock < 8; subBlock++) {
    const { scale, minimum } = sixBits(bytes, at + 4, subBlock)
    read(subBlock, fround(blockScale * scale), fround(blockMinimum * minimum))
  }
}

/** The first four sub-blocks have their own bytes, whose upper bits hold the upper bits of the last four. */
function sixBits(bytes: Uint8Array, at: number, subBlock: number): { scale: number; minimum: number } {
  if (subBlock < 4) return { scale: bytes[at + subBlock]! & 63, minimum: bytes[at + 4 + subBlock]! & 63 }
  const shared = bytes[at + 4 + subBlock]!
  return {
    scale: (shared & 15) | ((bytes[at + subBlock - 4]! >>> 6) << 4),
    minimum: (shared >>> 4) | ((bytes[at + subBlock]! >>> 6) << 4),
  }
}
