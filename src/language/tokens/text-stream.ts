import type { DecodeOptions } from './decode.ts'

/** Maximum number of bytes per character: an incomplete character spans at most this many tokens. */
const MAX_CHARACTER_BYTES = 4

/**
 * Decodes tokens to text as they arrive, for live display. A character spread over several tokens is held back until
 * it is complete; bytes that can never form one become U+FFFD, as in `decode`.
 */
export class TextStream {
  readonly #decode: (ids: ArrayLike<number>, options?: DecodeOptions) => string
  readonly #options: DecodeOptions
  #held: number[] = []
  /** False before the first token, unless the text continues another. */
  #continues: boolean

  constructor(
    tokenizer: { decode: (ids: ArrayLike<number>, options?: DecodeOptions) => string },
    options: DecodeOptions = {},
  ) {
    this.#decode = (ids, how) => tokenizer.decode(ids, how)
    this.#options = options
    this.#continues = options.continuation === true
  }

  /** Returns the text that this token completes; often empty. */
  push(token: number): string {
    const alone = this.#text([token], true)
    // A skipped control token may occur inside a character, whose bytes still belong together.
    if (alone === '') return ''
    // Most tokens are whole characters, which need no further decoding.
    if (this.#continues && this.#held.length === 0 && !alone.endsWith('\ufffd')) return alone
    this.#held.push(token)
    const text = this.#text(this.#held)
    if (!text.endsWith('\ufffd')) return this.#release(this.#held.length)
    return this.#held.length < MAX_CHARACTER_BYTES ? '' : this.#release(this.#releasable(text))
  }

  /** Returns the text that is still held back. */
  finish(): string {
    return this.#release(this.#held.length)
  }

  /** How many of the held tokens can be released: the fewest that leave the decoding of the rest unchanged. */
  #releasable(text: string): number {
    for (let count = 1; count < this.#held.length; count++) {
      const [front, rest] = [this.#held.slice(0, count), this.#held.slice(count)]
      if (this.#text(front) + this.#text(rest, true) === text) return count
    }
    return this.#held.length
  }

  #release(count: number): string {
    const tokens = this.#held.splice(0, count)
    if (tokens.length === 0) return ''
    const text = this.#text(tokens)
    this.#continues = true
    return text
  }

  #text(tokens: readonly number[], continues = this.#continues): string {
    return this.#decode(tokens, { ...this.#options, continuation: continues })
  }
}
