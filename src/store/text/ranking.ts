import { readPostings } from './postings.ts'

/** The usual BM25 constants: term frequency k1 and length normalization. */
const k1 = 1.2
const b = 0.75

/** Document lengths by row; 0 for a row that was deleted or has no words. */
export interface Lengths {
  of: Float32Array
  live: number
  mean: number
}

/**
 * Accumulates BM25 scores over the words of a query, one posting list at a time, and selects the best rows. The
 * scores are kept in an array as long as the corpus that is cleared only where it was touched, so the cost of a query
 * depends only on its postings.
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

  /**
   * Adds one word: all its posting lists, and the number of rows it occurs in. `unit` is the value of a weight of 1.
   */
  add(lists: readonly Uint8Array[], rows: number, unit: number): void {
    const { of: lengths, live, mean } = this.#lengths
    const sums = this.#sums
    const touched = this.#touched
    const idf = Math.log(1 + (Math.max(0, live - rows) + 0.5) / (rows + 0.5)) * (k1 + 1)
    const base = k1 * (1 - b)
    const slope = (k1 * b) / mean
    for (const data of lists) {
      readPostings(data, (row, weight) => {
        const length = lengths[row]!
        if (length === 0) return
        const frequency = weight * unit
        if (sums[row] === 0) touched[this.#count++] = row
        sums[row]! += (idf * frequency) / (frequency + base + slope * length)
      })
    }
  }

  /** Returns the best rows, best first, older ones first on ties; then resets for the next query. */
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
