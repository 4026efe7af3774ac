import { scramble } from './words.ts'

/** Hash functions of a signature. The estimate of a likeness of 0.8 then strays by 0.035 (one standard deviation). */
export const HASHES = 128

/** Odd, so that multiplying is a permutation of the 32-bit numbers. */
const factors = Uint32Array.from({ length: HASHES }, (_, index) => scramble(2 * index + 1) | 1)
const offsets = Uint32Array.from({ length: HASHES }, (_, index) => scramble(0x5bd1e995 + index))

/**
 * The smallest value each hash function takes over a set. Two sets agree in a place with the probability that is
 * their Jaccard likeness.
 */
export function minHash(set: Uint32Array, signature: Uint32Array): void {
  // Four functions at a time, each smallest value in a variable of its own: this loop is nearly all the cost.
  for (let index = 0; index < HASHES; index += 4) {
    const [factor0, factor1] = [factors[index]!, factors[index + 1]!]
    const [factor2, factor3] = [factors[index + 2]!, factors[index + 3]!]
    const [offset0, offset1] = [offsets[index]!, offsets[index + 1]!]
    const [offset2, offset3] = [offsets[index + 2]!, offsets[index + 3]!]
    // Signed comparison orders differently but as consistently, and needs no conversion.
    let least0 = 0x7fffffff
    let least1 = 0x7fffffff
    let least2 = 0x7fffffff
    let least3 = 0x7fffffff
    for (let at = 0; at < set.length; at++) {
      const value = set[at]! | 0
      const hash0 = (Math.imul(value, factor0) + offset0) | 0
      const hash1 = (Math.imul(value, factor1) + offset1) | 0
      const hash2 = (Math.imul(value, factor2) + offset2) | 0
      const hash3 = (Math.imul(value, factor3) + offset3) | 0
      if (hash0 < least0) least0 = hash0
      if (hash1 < least1) least1 = hash1
      if (hash2 < least2) least2 = hash2
      if (hash3 < least3) least3 = hash3
    }
    signature[index] = least0
    signature[index + 1] = least1
    signature[index + 2] = least2
    signature[index + 3] = least3
  }
}

/** The share of places in which two signatures agree: an estimate of the Jaccard likeness. */
export function likeness(left: Uint32Array, right: Uint32Array): number {
  let same = 0
  for (let index = 0; index < HASHES; index++) if (left[index] === right[index]) same++
  return same / HASHES
}

/** Whether they agree in at least `needed` places. Most pairs are told apart long before the end. */
export function agree(left: Uint32Array, right: Uint32Array, needed: number): boolean {
  let sparable = HASHES - needed
  for (let index = 0; index < HASHES; index++) {
    if (left[index] !== right[index] && --sparable < 0) return false
  }
  return true
}
