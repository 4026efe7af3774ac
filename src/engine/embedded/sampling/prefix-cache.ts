import type { CachedRow } from './kv-cache.ts'

/** Tokens are prefilled in blocks that start at multiples of this. */
export const PREFILL_BLOCK = 256

interface Entry {
  tokens: ArrayLike<number>
  /** Sampled to its end; otherwise only its prompt was prefilled. */
  isDone: boolean
  row: CachedRow
  bytes: number
}

/** Prefix cache: keys and values of inactive sequences, for new ones with the same prefix; LRU eviction. */
export class PrefixCache {
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
    // Entries that are a prefix of the new one are redundant.
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

  /** The entry with the longest usable prefix of the given tokens. */
  find(tokens: ArrayLike<number>): { row: CachedRow; length: number } | undefined {
    let best: Entry | undefined
    let length = 0
    for (const entry of this.#entries) {
      const known = reusableLength(entry, tokens)
      if (known > length) {
        best = entry
        length = known
      }
    }
    if (best === undefined) return undefined
    // Most recently used, so evicted last.
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
 * How many tokens of a sequence can be reused from a computed one. An identical prompt, or one that continues where the
 * other ended, reuses all of it; one that only shares a prefix reuses whole blocks, so that its own prefill does not
 * depend on the cache contents.
 */
export function reusableLength(
  { tokens: computed, isDone }: Pick<Entry, 'tokens' | 'isDone'>,
  tokens: ArrayLike<number>,
): number {
  const shared = Math.min(sharedLength(computed, tokens), tokens.length - 1)
  const isAll = shared === tokens.length - 1 || (isDone && shared === computed.length)
  return isAll ? shared : PREFILL_BLOCK * Math.floor(shared / PREFILL_BLOCK)
}

function sharedLength(one: ArrayLike<number>, other: ArrayLike<number>): number {
  const most = Math.min(one.length, other.length)
  let length = 0
  while (length < most && one[length] === other[length]) length++
  return length
}
