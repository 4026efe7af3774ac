import type { Sample } from './contract.ts'

/** A sample collected token by token. */
interface PartialSample {
  tokens: readonly number[]
  logprobs: readonly number[]
  modelLogprobs: readonly number[]
  reused: number
  versions?: readonly number[] | undefined
}

export function finishedSample(
  { tokens, logprobs, modelLogprobs, reused, versions }: PartialSample,
  stopped: Sample['stopped'],
): Sample {
  return {
    tokens: Int32Array.from(tokens),
    logprobs: Float32Array.from(logprobs),
    modelLogprobs: Float32Array.from(modelLogprobs),
    stopped,
    reused,
    ...(versions === undefined ? {} : { versions: Int32Array.from(versions) }),
  }
}
