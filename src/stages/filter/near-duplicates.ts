import { scramble } from '../../base/digests/index.ts'
import { agree, HASHES } from './min-hash.ts'
import type { Signatures } from './signatures.ts'

/** Of the pairs that are just alike enough, so many must come to be compared. */
const RECALL = 0.99
/**
 * A band that more sequences share is a phrase of the domain and tells nothing; only the latest of them are compared, or
 * sequences made from one template would all be compared with each other. Doubles share other bands too.
 */
const LONGEST_CHAIN = 32

/**
 * Bands of rows of a signature. Two sequences are compared where one band of theirs is the same. More rows make fewer
 * needless comparisons; there are as many as the wanted recall allows.
 */
export function bandsFor(threshold: number): { bands: number; rows: number } {
  for (let rows = HASHES; rows > 1; rows--) {
    const bands = Math.floor(HASHES / rows)
    if (1 - (1 - threshold ** rows) ** bands >= RECALL) return { bands, rows }
  }
  return { bands: HASHES, rows: 1 }
}

/**
 * For every sequence the one that is kept in its stead, or -1 where it is kept itself. They are taken in the `order`
 * given: one is kept unless it is like one kept before it. So the result hangs on that order alone, no two that are
 * kept are alike, and each that goes is like one that stays (and not only like another that goes).
 */
export function findDuplicates(signatures: Signatures, order: Uint32Array, threshold: number): Int32Array {
  const { bands, rows } = bandsFor(threshold)
  const needed = Math.ceil(threshold * HASHES - 1e-9)
  const slots = new Int32Array(2 ** Math.ceil(Math.log2(Math.max(16, order.length * bands * 1.5))))
  /** The entry before in the same slot; an entry is sequence × bands + band, stored plus one so that 0 is none. */
  const earlier = new Int32Array(signatures.size * bands)
  const comparedWith = new Int32Array(signatures.size).fill(-1)
  const keptInstead = new Int32Array(signatures.size).fill(-1)
  const places = new Int32Array(bands)

  const findKept = (index: number, signature: Uint32Array): number => {
    for (const place of places) {
      let entry = slots[place]!
      for (let step = 0; entry > 0 && step < LONGEST_CHAIN; step++) {
        const other = Math.floor((entry - 1) / bands)
        if (comparedWith[other] !== index) {
          comparedWith[other] = index
          if (agree(signature, signatures.at(other), needed)) return other
        }
        entry = earlier[entry - 1]!
      }
    }
    return -1
  }

  for (const index of order) {
    const signature = signatures.at(index)
    for (let band = 0; band < bands; band++)
      places[band] = bandHash(signature, band, rows) & (slots.length - 1)
    const kept = findKept(index, signature)
    keptInstead[index] = kept
    if (kept >= 0) continue
    for (let band = 0; band < bands; band++) {
      const entry = index * bands + band
      earlier[entry] = slots[places[band]!]!
      slots[places[band]!] = entry + 1
    }
  }
  return keptInstead
}

function bandHash(signature: Uint32Array, band: number, rows: number): number {
  let hash = scramble(band + 1)
  for (let row = band * rows; row < (band + 1) * rows; row++) hash = scramble(hash ^ signature[row]!)
  return hash
}
