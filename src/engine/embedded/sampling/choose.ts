import type { SampleRequest } from '../../contract.ts'

export interface Choice {
  token: number
  /** Under the distribution it was drawn from. */
  logprob: number
}

type Rules = Pick<SampleRequest, 'temperature' | 'topK' | 'topP'>

/**
 * Draws a token. `shares` are the model's shares at the temperature asked for, `logprobs` its log-probabilities as they
 * are; `draw` is a number from 0 up to 1. Undefined where nothing is allowed.
 */
export function choose(
  shares: Float32Array,
  logprobs: Float32Array,
  rules: Rules,
  draw: number,
  allowed?: Uint8Array,
): Choice | undefined {
  if (allowed !== undefined) return chooseAllowed(logprobs, rules, draw, allowed)
  if (rules.temperature === 0) return { token: likeliest(logprobs), logprob: 0 }
  if (cutsOff(rules)) return drawFrom(likeliestOf(shares, rules), shares, draw)
  const drawn = drawFromAll(shares, draw)
  return (rules.temperature ?? 1) === 1 ? { token: drawn.token, logprob: logprobs[drawn.token]! } : drawn
}

/** In the order of the vocabulary: nothing has to be sorted where nothing is cut off. */
function drawFromAll(shares: Float32Array, draw: number): Choice {
  let total = 0
  for (let token = 0; token < shares.length; token++) total += shares[token]!
  const goal = draw * total
  let passed = 0
  let last = 0
  for (let token = 0; token < shares.length; token++) {
    const share = shares[token]!
    if (share === 0) continue
    last = token
    passed += share
    if (passed > goal) break
  }
  return { token: last, logprob: Math.log(shares[last]! / total) }
}

/** With tokens ruled out the shares are worked out anew among the rest: what is left may have had hardly any. */
function chooseAllowed(
  logprobs: Float32Array,
  rules: Rules,
  draw: number,
  allowed: Uint8Array,
): Choice | undefined {
  let best = -1
  for (let token = 0; token < logprobs.length; token++) {
    if (allowed[token] !== 0 && (best === -1 || logprobs[token]! > logprobs[best]!)) best = token
  }
  if (best === -1) return undefined
  if (rules.temperature === 0) return { token: best, logprob: 0 }
  const coldness = 1 / (rules.temperature ?? 1)
  const shares = Float32Array.from(logprobs, (logprob, token) =>
    allowed[token] === 0 ? 0 : Math.exp((logprob - logprobs[best]!) * coldness),
  )
  if (!cutsOff(rules)) return drawFromAll(shares, draw)
  const total = shares.reduce((sum, share) => sum + share, 0)
  for (let token = 0; token < shares.length; token++) shares[token]! /= total
  return drawFrom(likeliestOf(shares, rules), shares, draw)
}

function cutsOff({ topK, topP = 1 }: Rules): boolean {
  return topP < 1 || topK !== undefined
}

function likeliest(logprobs: Float32Array): number {
  let best = 0
  for (let token = 1; token < logprobs.length; token++) if (logprobs[token]! > logprobs[best]!) best = token
  return best
}

/** Tokens that top-k and top-p leave, the likeliest first. */
function likeliestOf(shares: Float32Array, { topK, topP = 1 }: Rules): number[] {
  // Tokens below this share have less than 1 − topP together, so they cannot be among those that make up topP.
  const least = (1 - topP) / shares.length
  const candidates: number[] = []
  for (let token = 0; token < shares.length; token++) {
    if (shares[token]! > 0 && shares[token]! >= least) candidates.push(token)
  }
  candidates.sort((left, right) => shares[right]! - shares[left]! || left - right)
  if (topK !== undefined) candidates.length = Math.min(candidates.length, topK)
  if (topP >= 1) return candidates
  let passed = 0
  const needed = candidates.findIndex((token) => {
    passed += shares[token]!
    return passed >= topP
  })
  return needed === -1 ? candidates : candidates.slice(0, needed + 1)
}

function drawFrom(candidates: readonly number[], shares: Float32Array, draw: number): Choice {
  let total = 0
  for (const token of candidates) total += shares[token]!
  const goal = draw * total
  let passed = 0
  for (const token of candidates) {
    passed += shares[token]!
    if (passed > goal) return { token, logprob: Math.log(shares[token]! / total) }
  }
  const token = candidates.at(-1)!
  return { token, logprob: Math.log(shares[token]! / total) }
}
