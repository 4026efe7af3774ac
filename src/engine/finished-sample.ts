import type { Sample } from './contract.ts'

/** A sample as it grew, token by token. */
interface Grown {
  tokens: readonly number[]
  logprobs: readonly number[]
  modelLogprobs: readonly number[]
  reused: number
}

export function finishedSample(
  { tokens, logprobs, modelLogprobs, reused }: Grown,
  stopped: Sample['stopped'],
): Sample {
  return {
    tokens: Int32Array.from(tokens),
    logprobs: Float32Array.from(logprobs),
    modelLogprobs: Float32Array.from(modelLogprobs),
    stopped,
    reused,
  }
}
