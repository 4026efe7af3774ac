import type { CachedRow } from './row-cache.ts'

/** Tokens are read in blocks that begin at fixed places. */
export const READ_BLOCK = 256

interface Entry {
  tokens: ArrayLike<number>
  /** It was sampled to its end; else only its prompt has been read. */
  isDone: boolean
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

  put(tokens: Int32Array, row: CachedRow, isDone: boolean): void {
    const bytes = row.reduce((sum, { byteLength }) => sum + byteLength, tokens.byteLength)
    if (bytes > this.#budget) return
    // What is a beginning of the new one is of no more use.
    for (const entry of this.#entries) {
      if (entry.tokens.length <= tokens.length && sharedLength(entry.tokens, tokens) === entry.tokens.length)
        this.#remove(entry)
    }
    this.#entries.add({ tokens, isDone, row, bytes })
    this.#bytes += bytes
    for (const oldest of this.#entries) {
      if (this.#bytes <= this.#budget) break
      this.#remove(oldest)
    }
  }

  /** The kept sequence with which most of the given one is known. */
  find(tokens: ArrayLike<number>): { row: CachedRow; length: number } | undefined {
    let best: Entry | undefined
    let length = 0
    for (const entry of this.#entries) {
      const known = knownLength(entry, tokens)
      if (known > length) {
        best = entry
        length = known
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

/**
 * What is known of a sequence where another has been computed. The same prompt, and one that goes on where the other ended,
 * take all of it; one that only begins the same takes whole blocks, so that what it reads by itself does not hang on
 * who came before it.
 */
export function knownLength(
  { tokens: computed, isDone }: Pick<Entry, 'tokens' | 'isDone'>,
  tokens: ArrayLike<number>,
): number {
  const shared = Math.min(sharedLength(computed, tokens), tokens.length - 1)
  const isAll = shared === tokens.length - 1 || (isDone && shared === computed.length)
  return isAll ? shared : READ_BLOCK * Math.floor(shared / READ_BLOCK)
}

function sharedLength(one: ArrayLike<number>, other: ArrayLike<number>): number {
  const most = Math.min(one.length, other.length)
  let length = 0
  while (length < most && one[length] === other[length]) length++
  return length
}
