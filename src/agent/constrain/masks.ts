import type { Position } from './follow.ts'
import type { Vocabulary } from './vocabulary.ts'

/** Memory for cached masks. */
const CACHE_BYTES = 64 * 2 ** 20
const MIN_CACHED = 64

/** Which tokens may follow at a position. Each mask is computed once and shared. */
export class Masks {
  readonly #vocabulary: Vocabulary
  readonly #endTokens: readonly number[]
  readonly #size: number
  /** Least recently used first. */
  readonly #known = new Map<string, Uint8Array>()

  constructor(vocabulary: Vocabulary, endTokens: readonly number[], size: number) {
    this.#vocabulary = vocabulary
    this.#endTokens = endTokens
    this.#size = size
  }

  isEnd(token: number): boolean {
    return this.#endTokens.includes(token)
  }

  after(position: Position, token: number): Position | undefined {
    if (this.isEnd(token)) return position.place.ended ? position : undefined
    return this.#vocabulary.after(position, token)
  }

  at(position: Position): Uint8Array {
    const key = `${position.begun.join(' ')} ${position.place.key}`
    let mask = this.#known.get(key)
    if (mask === undefined) {
      mask = this.#compute(position)
      const most = Math.max(MIN_CACHED, Math.floor(CACHE_BYTES / this.#size))
      if (this.#known.size >= most) this.#known.delete(this.#known.keys().next().value!)
    } else this.#known.delete(key)
    this.#known.set(key, mask)
    return mask
  }

  #compute(position: Position): Uint8Array {
    const mask = new Uint8Array(this.#size)
    this.#vocabulary.mark(position, mask)
    // An end token may also have text, and still ends.
    for (const token of this.#endTokens) mask[token] = position.place.ended ? 1 : 0
    return mask
  }
}
