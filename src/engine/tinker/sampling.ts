import type { Sample, SampleRequest } from '../contract.ts'
import type { SampledSequence } from './protocol-types.ts'

/** Samples from a model on a server, which has been checked to be asked for something it can. */
export interface Sampling {
  sample(request: SampleRequest): Promise<Sample[]>
  /** The weights are others now. */
  weightsChanged(): void
}

/** The fields of `sampling_params` that every server knows. */
export function samplingParams({ maxTokens, temperature = 1, topP = 1, topK }: SampleRequest, seed: number) {
  return {
    max_tokens: maxTokens,
    temperature,
    top_p: topP,
    ...(topK === undefined ? {} : { top_k: topK }),
    seed,
  }
}

/** Seeds of servers are whole numbers of 31 bits. */
export function seedOf({ seed }: SampleRequest): number {
  return seed ?? Math.floor(Math.random() * 2 ** 30)
}

export function numbers(values: readonly (number | null)[] | null | undefined, length: number): Float32Array {
  return Float32Array.from({ length }, (_, at) => values?.[at] ?? Number.NaN)
}

export function tokensOf({ tokens }: SampledSequence): Int32Array {
  return Int32Array.from(tokens)
}
