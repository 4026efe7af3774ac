import type { Sample, SampleRequest } from './contract.ts'

/** Checked after each token. */
export class StopConditions {
  readonly #tokens: ReadonlySet<number>
  readonly #texts: readonly string[]
  readonly #decode: (ids: ArrayLike<number>) => string
  /** Number of tokens that hold the longest stop string: each is at least one byte. */
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
    // An earlier match would have ended the sample, so any match here was just completed.
    const tail = this.#decode(tokens.slice(-this.#reach))
    return this.#texts.some((text) => tail.includes(text)) ? 'text' : undefined
  }
}
