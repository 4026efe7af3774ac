import type { SampleRequest } from '../../contract.ts'

export interface SampledToken {
  token: number
  /** Under the distribution it was sampled from. */
  logprob: number
}

type SamplingParams = Pick<SampleRequest, 'temperature' | 'topK' | 'topP'>

/**
 * Samples a token. `probabilities` are the model's probabilities at the requested temperature, `logprobs` its unmodified
 * log-probabilities; `uniform` is a uniform number in [0, 1). Undefined if no token is allowed.
 */
export function sampleToken(
  probabilities: Float32Array,
  logprobs: Float32Array,
  params: SamplingParams,
  uniform: number,
  allowed?: Uint8Array,
): SampledToken | undefined {
  if (allowed !== undefined) return sampleAllowed(logprobs, params, uniform, allowed)
  if (params.temperature === 0) return { token: argmax(logprobs), logprob: 0 }
  if (truncates(params)) return sampleFrom(truncated(probabilities, params), probabilities, uniform)
  const sampled = sampleFromAll(probabilities, uniform)
  return (params.temperature ?? 1) === 1
    ? { token: sampled.token, logprob: logprobs[sampled.token]! }
    : sampled
}

/** In vocabulary order: without truncation nothing has to be sorted. */
function sampleFromAll(probabilities: Float32Array, uniform: number): SampledToken {
  let total = 0
  for (let token = 0; token < probabilities.length; token++) total += probabilities[token]!
  const goal = uniform * total
  let passed = 0
  let last = 0
  for (let token = 0; token < probabilities.length; token++) {
    const probability = probabilities[token]!
    if (probability === 0) continue
    last = token
    passed += probability
    if (passed > goal) break
  }
  return { token: last, logprob: Math.log(probabilities[last]! / total) }
}

/** With a mask, probabilities are recomputed over the allowed tokens: their original ones may be tiny. */
function sampleAllowed(
  logprobs: Float32Array,
  params: SamplingParams,
  uniform: number,
  allowed: Uint8Array,
): SampledToken | undefined {
  let best = -1
  for (let token = 0; token < logprobs.length; token++) {
    if (allowed[token] !== 0 && (best === -1 || logprobs[token]! > logprobs[best]!)) best = token
  }
  if (best === -1) return undefined
  if (params.temperature === 0) return { token: best, logprob: 0 }
  const inverseTemperature = 1 / (params.temperature ?? 1)
  const probabilities = Float32Array.from(logprobs, (logprob, token) =>
    allowed[token] === 0 ? 0 : Math.exp((logprob - logprobs[best]!) * inverseTemperature),
  )
  if (!truncates(params)) return sampleFromAll(probabilities, uniform)
  const total = probabilities.reduce((sum, probability) => sum + probability, 0)
  for (let token = 0; token < probabilities.length; token++) probabilities[token]! /= total
  return sampleFrom(truncated(probabilities, params), probabilities, uniform)
}

function truncates({ topK, topP = 1 }: SamplingParams): boolean {
  return topP < 1 || topK !== undefined
}

function argmax(logprobs: Float32Array): number {
  let best = 0
  for (let token = 1; token < logprobs.length; token++) if (logprobs[token]! > logprobs[best]!) best = token
  return best
}

/** Tokens kept by top-k and top-p, most likely first. */
function truncated(probabilities: Float32Array, { topK, topP = 1 }: SamplingParams): number[] {
  // Tokens below this probability have less than 1 − topP in total, so they cannot be in the nucleus.
  const least = (1 - topP) / probabilities.length
  const candidates: number[] = []
  for (let token = 0; token < probabilities.length; token++) {
    if (probabilities[token]! > 0 && probabilities[token]! >= least) candidates.push(token)
  }
  candidates.sort((left, right) => probabilities[right]! - probabilities[left]! || left - right)
  if (topK !== undefined) candidates.length = Math.min(candidates.length, topK)
  if (topP >= 1) return candidates
  let passed = 0
  const needed = candidates.findIndex((token) => {
    passed += probabilities[token]!
    return passed >= topP
  })
  return needed === -1 ? candidates : candidates.slice(0, needed + 1)
}

function sampleFrom(
  candidates: readonly number[],
  probabilities: Float32Array,
  uniform: number,
): SampledToken {
  let total = 0
  for (const token of candidates) total += probabilities[token]!
  const goal = uniform * total
  let passed = 0
  for (const token of candidates) {
    passed += probabilities[token]!
    if (passed > goal) return { token, logprob: Math.log(probabilities[token]! / total) }
  }
  const token = candidates.at(-1)!
  return { token, logprob: Math.log(probabilities[token]! / total) }
}
