import type { PolicyExample } from './examples.ts'

export interface TokenMetrics {
  tokens: number
  /** Shares of the trained tokens whose ratio was clipped. */
  clipLow: number
  clipHigh: number
  meanRatio: number
  /** Importance weights before the cap: the learner's probability divided by the sampler's. */
  meanImportance: number
  maxImportance: number
  /** Share of the trained tokens whose importance weight was capped. */
  capped: number
}

/** Accumulates ratio statistics of an update over the trained tokens. */
export class TokenTally {
  #tokens = 0
  #low = 0
  #high = 0
  #ratios = 0
  #capped = 0
  #importance = { sum: 0, max: 0 }

  add(
    examples: readonly PolicyExample[],
    ratios: readonly Float32Array[],
    bounds: { lowestRatio: number; highestRatio: number; importanceCap?: number },
  ): void {
    const { lowestRatio, highestRatio, importanceCap = Number.POSITIVE_INFINITY } = bounds
    for (const [index, example] of examples.entries()) {
      const { weights, oldLogprobs, sampledLogprobs, advantages } = example
      for (let at = 1; at < weights.length; at++) {
        if (weights[at] === 0) continue
        const ratio = ratios[index]![at]!
        this.#tokens++
        this.#ratios += ratio
        if (ratio < lowestRatio && advantages[at]! < 0) this.#low++
        if (ratio > highestRatio && advantages[at]! > 0) this.#high++
        const importance = Math.exp(oldLogprobs[at]! - sampledLogprobs[at]!)
        this.#importance.sum += importance
        if (importance > this.#importance.max) this.#importance.max = importance
        if (importance > importanceCap) this.#capped++
      }
    }
  }

  metrics(): TokenMetrics {
    const share = (count: number): number => (this.#tokens === 0 ? 0 : count / this.#tokens)
    return {
      tokens: this.#tokens,
      clipLow: share(this.#low),
      clipHigh: share(this.#high),
      meanRatio: share(this.#ratios),
      meanImportance: share(this.#importance.sum),
      maxImportance: this.#importance.max,
      capped: share(this.#capped),
    }
  }
}

/** Difference between the learner's and the sampler's log-probabilities of sampled tokens. */
export function mismatchOf(
  examples: readonly PolicyExample[],
  learner: readonly Float32Array[],
): { mean: number; max: number } {
  let [sum, max, tokens] = [0, 0, 0]
  for (const [index, { weights, oldLogprobs }] of examples.entries()) {
    for (let at = 1; at < weights.length; at++) {
      if (weights[at] === 0) continue
      const difference = Math.abs(learner[index]![at]! - oldLogprobs[at]!)
      sum += difference
      max = Math.max(max, difference)
      tokens++
    }
  }
  return { mean: tokens === 0 ? 0 : sum / tokens, max }
}
