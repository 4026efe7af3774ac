import type { Sample, SampleRequest } from './contract.ts'

/** Decides after each token whether a sample is at its end. */
export class StopRules {
  readonly #tokens: ReadonlySet<number>
  readonly #texts: readonly string[]
  readonly #decode: (ids: ArrayLike<number>) => string
  /** Tokens that can hold the longest text: each is at least a byte. */
  readonly #reach: number

  constructor(
    request: Pick<SampleRequest, 'stopTokens' | 'stopTexts'>,
    decode: (ids: ArrayLike<number>) => string,
  ) {
    this.#tokens = new Set(request.stopTokens)
    this.#texts = request.stopTexts ?? []
    this.#decode = decode
    this.#reach = Math.max(0, ...this.#texts.map((text) => Buffer.byteLength(text)))
  }

  after(tokens: readonly number[]): Sample['stopped'] | undefined {
    if (this.#tokens.has(tokens.at(-1)!)) return 'token'
    if (this.#texts.length === 0) return undefined
    // An earlier one would have been the end already, so wherever it stands in here it has just been completed.
    const tail = this.#decode(tokens.slice(-this.#reach))
    return this.#texts.some((text) => tail.includes(text)) ? 'text' : undefined
  }
}
