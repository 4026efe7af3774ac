import type { Sample, SampleRequest } from '../contract.ts'
import type { SampledSequence } from './protocol-types.ts'

/** Sampling from a model on a server; requests have been validated. */
export interface Sampling {
  sample(request: SampleRequest): Promise<Sample[]>
  /** Called when the weights have changed. */
  weightsChanged(): void
}

/** The `sampling_params` fields that every server supports. */
export function samplingParams({ maxTokens, temperature = 1, topP = 1, topK }: SampleRequest, seed: number) {
  return {
    max_tokens: maxTokens,
    temperature,
    top_p: topP,
    ...(topK === undefined ? {} : { top_k: topK }),
    seed,
  }
}

/** Servers use 31-bit integer seeds. */
export function seedOf({ seed }: SampleRequest): number {
  return seed ?? Math.floor(Math.random() * 2 ** 30)
}

export function numbers(values: readonly (number | null)[] | null | undefined, length: number): Float32Array {
  return Float32Array.from({ length }, (_, at) => values?.[at] ?? Number.NaN)
}

export function tokensOf({ tokens }: SampledSequence): Int32Array {
  return Int32Array.from(tokens)
}
