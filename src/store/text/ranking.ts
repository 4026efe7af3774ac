import { readPostings } from './postings.ts'

/** The usual constants of BM25: how soon repetition stops counting, and how much length is held against a text. */
const saturation = 1.2
const lengthShare = 0.75

/** Lengths of all rows; 0 is a row that is gone or has no words. */
export interface Lengths {
  of: Float32Array
  live: number
  mean: number
}

/**
 * Adds up BM25 over the words of a query, one posting list after the other, and keeps the best rows. The sums live in
 * an array as long as the corpus that is wiped where it was touched, so a query costs what its postings cost.
 */
export class Ranking {
  readonly #lengths: Lengths
  readonly #sums: Float32Array
  readonly #touched: Uint32Array
  #count = 0

  constructor(lengths: Lengths) {
    this.#lengths = lengths
    this.#sums = new Float32Array(lengths.of.length)
    this.#touched = new Uint32Array(lengths.of.length)
  }

  /** One word: all its posting lists, and in how many rows it occurs. `unit` is what a weight of 1 counts for. */
  add(lists: readonly Uint8Array[], rows: number, unit: number): void {
    const { of: lengths, live, mean } = this.#lengths
    const sums = this.#sums
    const touched = this.#touched
    const rarity = Math.log(1 + (Math.max(0, live - rows) + 0.5) / (rows + 0.5)) * (saturation + 1)
    const base = saturation * (1 - lengthShare)
    const slope = (saturation * lengthShare) / mean
    for (const data of lists) {
      readPostings(data, (row, weight) => {
        const length = lengths[row]!
        if (length === 0) return
        const frequency = weight * unit
        if (sums[row] === 0) touched[this.#count++] = row
        sums[row]! += (rarity * frequency) / (frequency + base + slope * length)
      })
    }
  }

  /** The best rows, best first, older before newer where they are equal; ready for the next query afterwards. */
  take(limit: number): { row: number; score: number }[] {
    const best: { row: number; score: number }[] = []
    for (let index = 0; index < this.#count; index++) {
      const row = this.#touched[index]!
      const score = this.#sums[row]!
      this.#sums[row] = 0
      if (best.length === limit && !isBefore(row, score, best.at(-1)!)) continue
      let place = best.length
      while (place > 0 && isBefore(row, score, best[place - 1]!)) place--
      best.splice(place, 0, { row, score })
      if (best.length > limit) best.pop()
    }
    this.#count = 0
    return best
  }
}

function isBefore(row: number, score: number, other: { row: number; score: number }): boolean {
  return score > other.score || (score === other.score && row < other.row)
}
