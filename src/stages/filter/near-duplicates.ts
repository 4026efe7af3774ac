import { scramble } from '../../base/digests/index.ts'
import { agree, HASHES, type Signatures } from './min-hash.ts'

/** Share of the pairs at the threshold that must be compared. */
const RECALL = 0.99
/**
 * A band shared by more sequences is a common phrase and carries no information; only the latest are compared, or
 * sequences made from one template would all be compared with each other. True duplicates share other bands too.
 */
const LONGEST_CHAIN = 32

/**
 * Splits a signature into bands of rows. Two sequences are compared if one of their bands is equal. More rows mean
 * fewer needless comparisons; this uses as many as the recall allows.
 */
export function bandsFor(threshold: number): { bands: number; rows: number } {
  for (let rows = HASHES; rows > 1; rows--) {
    const bands = Math.floor(HASHES / rows)
    if (1 - (1 - threshold ** rows) ** bands >= RECALL) return { bands, rows }
  }
  return { bands: HASHES, rows: 1 }
}

/**
 * For every sequence, the one kept in its place, or -1 if it is kept itself. Sequences are processed in the given
 * `order`: one is kept unless it is similar to one kept before. So the result depends only on that order, no two kept
 * sequences are similar, and each dropped one is similar to a kept one.
 */
export function findDuplicates(signatures: Signatures, order: Uint32Array, threshold: number): Int32Array {
  const { bands, rows } = bandsFor(threshold)
  const needed = Math.ceil(threshold * HASHES - 1e-9)
  const slots = new Int32Array(2 ** Math.ceil(Math.log2(Math.max(16, order.length * bands * 1.5))))
  /**
   * The previous entry in the same slot; an entry is sequence × bands + band, stored plus one so that 0 means none.
   */
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
