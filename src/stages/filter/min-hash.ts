import { scramble } from '../../base/digests/index.ts'

/** Places of a signature. The estimate of a likeness of 0.8 then strays by 0.035 (one standard deviation). */
export const HASHES = 128

/** Which place an empty one borrows from, attempt by attempt. */
const lenders = Uint8Array.from({ length: HASHES * 64 }, (_, index) => scramble(0x5bd1e995 + index) % HASHES)

/**
 * A MinHash signature in one pass: the hashes of a set are dealt out to the places by their high bits, and each place
 * keeps the smallest. A place that got none borrows from another, chosen by its own number alone, so that two sets
 * agree in a place with the probability that is their Jaccard likeness (densified one-permutation hashing).
 */
export function minHash(set: Uint32Array, signature: Uint32Array): void {
  signature.fill(empty)
  let filled = 0
  for (let at = 0; at < set.length; at++) {
    const value = set[at]!
    const place = value >>> 25
    if (signature[place] === empty) filled++
    if (value < signature[place]!) signature[place] = value
  }
  if (filled === 0 || filled === HASHES) return
  const own = signature.slice()
  for (let place = 0; place < HASHES; place++) {
    if (own[place] === empty) signature[place] = borrowed(own, place)
  }
}

/** No hash is as large: the last one is left to mean that there is none. */
const empty = 0xffffffff

function borrowed(own: Uint32Array, place: number): number {
  for (let attempt = 0; attempt < 64; attempt++) {
    const value = own[lenders[place * 64 + attempt]!]!
    if (value !== empty) return value
  }
  // Hardly any place is filled: the next one that is.
  for (let step = 1; ; step++) {
    const value = own[(place + step) % HASHES]!
    if (value !== empty) return value
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
