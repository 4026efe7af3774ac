import type { RlSettings } from './config.ts'
import type { PolicyExample } from './examples.ts'

/** Bounded as in verl, so that no product overflows. */
function ratioOf(logRatio: number): number {
  return Math.exp(Math.min(Math.max(logRatio, -20), 20))
}

/** The new probability of each trained token divided by its old one. */
export function tokenRatios(
  examples: readonly PolicyExample[],
  logprobs: readonly Float32Array[],
): Float32Array[] {
  return examples.map(({ weights, oldLogprobs }, index) =>
    weights.map((weight, at) => (weight === 0 ? 0 : ratioOf(logprobs[index]![at]! - oldLogprobs[at]!))),
  )
}

/** GSPO: one ratio for all tokens of a rollout, the geometric mean of theirs. `rollouts` has the examples of each. */
export function sequenceRatios(
  rollouts: readonly (readonly PolicyExample[])[],
  logprobs: readonly Float32Array[],
): Float32Array[] {
  let next = 0
  return rollouts.flatMap((examples) => {
    const own = examples.map((example) => ({ ...example, now: logprobs[next++]! }))
    let [sum, tokens] = [0, 0]
    for (const { weights, oldLogprobs, now } of own) {
      for (let at = 1; at < weights.length; at++) {
        if (weights[at] === 0) continue
        sum += now[at]! - oldLogprobs[at]!
        tokens++
      }
    }
    const ratio = ratioOf(sum / Math.max(1, tokens))
    return own.map(({ weights }) => weights.map((weight) => (weight === 0 ? 0 : ratio)))
  })
}

/** An engine need not compute the log-probability of a token without weight; this weight changes nothing. */
const NO_WEIGHT = 1e-30

/** Cross-entropy with these weights has the gradient of every objective at a ratio of 1: A·∇log p. */
export function weightedByAdvantage(examples: readonly PolicyExample[]): PolicyExample[] {
  return examples.map((example) => ({
    ...example,
    weights: example.weights.map((weight, at) =>
      weight === 0 ? 0 : weight * example.advantages[at]! || NO_WEIGHT,
    ),
  }))
}

/**
 * Cross-entropy with these weights has the gradient of the objective, c·A·∇log p, where c depends on the ratio but is
 * not differentiated. cispo: the ratio, within its bounds. gspo: the ratio, or 0 where clipping ends the gradient.
 */
export function weightedByRatio(
  examples: readonly PolicyExample[],
  ratios: readonly Float32Array[],
  settings: Pick<RlSettings, 'loss' | 'clip_low' | 'clip_high' | 'importance_cap'>,
): PolicyExample[] {
  const [low, high] = [1 - settings.clip_low, 1 + settings.clip_high]
  const coefficient = (ratio: number, advantage: number): number => {
    if (settings.loss === 'cispo') return Math.min(Math.max(ratio, low), high)
    const isClipped = advantage > 0 ? ratio > high : ratio < low
    return isClipped ? 0 : ratio
  }
  const cap = settings.importance_cap
  return examples.map((example, index) => {
    const { advantages, oldLogprobs, sampledLogprobs } = example
    const weights = example.weights.map((weight, at) => {
      if (weight === 0) return 0
      const importance = cap > 0 ? Math.min(Math.exp(oldLogprobs[at]! - sampledLogprobs[at]!), cap) : 1
      const advantage = advantages[at]!
      return weight * advantage * importance * coefficient(ratios[index]![at]!, advantage) || NO_WEIGHT
    })
    return { ...example, weights }
  })
}
