import type { Sample } from '../engine/index.ts'
import type { Span } from '../schema/index.ts'

/** The tokens of one sampling request, or of one observation. */
export interface ContextPart extends Pick<Span, 'origin' | 'logprobs' | 'modelLogprobs' | 'shortened'> {
  tokens: number[]
  /** Training step of the weights that sampled each token, if known. */
  steps?: readonly number[] | undefined
}

/** What the model sees: the prompt and the tokens of all parts in order, with observations shortened if necessary. */
export class Context {
  readonly prompt: number[]
  readonly parts: ContextPart[] = []

  constructor(prompt: ArrayLike<number>) {
    this.prompt = Array.from(prompt)
  }

  /** Tokens as the model currently sees them. */
  tokens(): Int32Array {
    const all = new Int32Array(this.length)
    all.set(this.prompt)
    let at = this.prompt.length
    for (const part of this.parts) {
      const tokens = visible(part)
      all.set(tokens, at)
      at += tokens.length
    }
    return all
  }

  get length(): number {
    return this.parts.reduce((sum, part) => sum + visible(part).length, this.prompt.length)
  }

  /** Tokens added after the prompt, before any shortening. */
  get entered(): number {
    return this.parts.reduce((sum, { tokens }) => sum + tokens.length, 0)
  }

  /** Tokens that the model wrote. */
  get sampled(): number {
    return this.parts.reduce((sum, { origin, tokens }) => sum + ('request' in origin ? tokens.length : 0), 0)
  }

  /** The first `count` tokens of a sample. The rest is dropped. */
  addSampled(
    request: number,
    sample: Pick<Sample, 'tokens' | 'logprobs' | 'modelLogprobs'>,
    count: number,
    plain: boolean,
    steps?: readonly number[],
  ): void {
    if (count === 0) return
    this.parts.push({
      origin: { request },
      tokens: Array.from(sample.tokens.subarray(0, count)),
      logprobs: exact(sample.logprobs.subarray(0, count)),
      ...(plain ? {} : { modelLogprobs: exact(sample.modelLogprobs.subarray(0, count)) }),
      ...(steps === undefined ? {} : { steps: steps.slice(0, count) }),
    })
  }

  addObservation(call: number, tokens: ArrayLike<number>): void {
    this.parts.push({ origin: { call }, tokens: Array.from(tokens) })
  }

  /** Shortens the oldest full observation, starting with a request. False if there is none. */
  shortenOldest(request: number, shorter: (call: number) => readonly number[]): boolean {
    for (const part of this.parts) {
      if (!('call' in part.origin) || part.shortened !== undefined) continue
      const tokens = [...shorter(part.origin.call)]
      if (tokens.length >= part.tokens.length) continue
      part.shortened = { request, tokens }
      return true
    }
    return false
  }
}

function visible({ shortened, tokens }: ContextPart): readonly number[] {
  return shortened?.tokens ?? tokens
}

/** Nine digits identify every 32-bit float, in half the space of all digits. */
function exact(values: Float32Array): number[] {
  return Array.from(values, (value) => Number(value.toPrecision(9)))
}
