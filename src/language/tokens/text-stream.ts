import type { DecodeOptions } from './decode.ts'

/** Bytes of the longest character: no token can be waiting for more than this many. */
const LONGEST_CHARACTER = 4

/**
 * Turns tokens into text as they come, for whoever shows it at once. A character spread over tokens is held back until
 * it is whole; bytes that can never become one show as U+FFFD, as in `decode`.
 */
export class TextStream {
  readonly #decode: (ids: ArrayLike<number>, options?: DecodeOptions) => string
  readonly #options: DecodeOptions
  #held: number[] = []
  /** Nothing stands before the first token, unless the text continues another. */
  #continues: boolean

  constructor(
    tokenizer: { decode: (ids: ArrayLike<number>, options?: DecodeOptions) => string },
    options: DecodeOptions = {},
  ) {
    this.#decode = (ids, how) => tokenizer.decode(ids, how)
    this.#options = options
    this.#continues = options.continuation === true
  }

  /** The text that this token completes; often empty. */
  push(token: number): string {
    // A control token left out may stand inside a character, whose bytes belong together all the same.
    if (this.#text([token], true) === '') return ''
    this.#held.push(token)
    const text = this.#text(this.#held)
    if (!text.endsWith('\ufffd')) return this.#let(this.#held.length)
    return this.#held.length < LONGEST_CHARACTER ? '' : this.#let(this.#certain(text))
  }

  /** What is still held back, at the end. */
  finish(): string {
    return this.#let(this.#held.length)
  }

  /** How many of the held tokens stand by themselves: the fewest that leave the rest as it is read now. */
  #certain(text: string): number {
    for (let count = 1; count < this.#held.length; count++) {
      const [front, rest] = [this.#held.slice(0, count), this.#held.slice(count)]
      if (this.#text(front) + this.#text(rest, true) === text) return count
    }
    return this.#held.length
  }

  #let(count: number): string {
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
