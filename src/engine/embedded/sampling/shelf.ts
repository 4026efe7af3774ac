import type { CachedRow } from './row-cache.ts'

interface Entry {
  tokens: Int32Array
  row: CachedRow
  bytes: number
}

/** Keys and values of sequences that are not being sampled, kept in case another one begins the same. */
export class Shelf {
  readonly #entries = new Set<Entry>()
  readonly #budget: number
  #bytes = 0

  /** `budget` in bytes. */
  constructor(budget: number) {
    this.#budget = budget
  }

  put(tokens: Int32Array, row: CachedRow): void {
    const bytes = row.reduce((sum, { byteLength }) => sum + byteLength, tokens.byteLength)
    if (bytes > this.#budget) return
    // What is a beginning of the new one is of no more use.
    for (const entry of this.#entries) {
      if (entry.tokens.length <= tokens.length && sharedLength(entry.tokens, tokens) === entry.tokens.length)
        this.#remove(entry)
    }
    this.#entries.add({ tokens, row, bytes })
    this.#bytes += bytes
    for (const oldest of this.#entries) {
      if (this.#bytes <= this.#budget) break
      this.#remove(oldest)
    }
  }

  /** The kept sequence that shares the longest beginning with the given one. */
  find(tokens: ArrayLike<number>): { row: CachedRow; length: number } | undefined {
    let best: Entry | undefined
    let length = 0
    for (const entry of this.#entries) {
      const shared = sharedLength(entry.tokens, tokens)
      if (shared > length) {
        best = entry
        length = shared
      }
    }
    if (best === undefined) return undefined
    // Used last, so removed last.
    this.#entries.delete(best)
    this.#entries.add(best)
    return { row: best.row, length }
  }

  clear(): void {
    this.#entries.clear()
    this.#bytes = 0
  }

  #remove(entry: Entry): void {
    this.#entries.delete(entry)
    this.#bytes -= entry.bytes
  }
}

export function sharedLength(one: ArrayLike<number>, other: ArrayLike<number>): number {
  const most = Math.min(one.length, other.length)
  let length = 0
  while (length < most && one[length] === other[length]) length++
  return length
}
