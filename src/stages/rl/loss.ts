import { divided, type Loss, normalized } from '../../engine/contract.ts'
import type { RlSettings } from './config.ts'
import type { PolicyExample } from './examples.ts'

type PolicyLoss = Extract<Loss, { kind: 'policy' }>

/** The objective of an update: min(r·A, clip(r)·A), with the configured extensions. */
export function policyLoss(
  settings: Pick<RlSettings, 'clip_low' | 'clip_high' | 'dual_clip' | 'importance_cap' | 'temperature'>,
): PolicyLoss {
  const { clip_low, clip_high, dual_clip, importance_cap, temperature } = settings
  return {
    kind: 'policy',
    temperature,
    lowestRatio: 1 - clip_low,
    highestRatio: 1 + clip_high,
    ...(dual_clip > 0 ? { dualClip: dual_clip } : {}),
    ...(importance_cap > 0 ? { importanceCap: importance_cap } : {}),
  }
}

/**
 * Normalizes the loss weights of one update. `token`: the loss is the mean over all trained tokens. `sequence`: the
 * mean over rollouts of the mean over each one's tokens.
 */
export function normalizeWeights(
  rollouts: readonly (readonly PolicyExample[])[],
  normalise: RlSettings['normalise'],
): PolicyExample[] {
  if (normalise === 'token') return normalized(rollouts.flat())
  const trained = rollouts.map((examples) => examples.reduce((sum, { weights }) => sum + total(weights), 0))
  const count = trained.filter((tokens) => tokens > 0).length
  return rollouts.flatMap((examples, index) => {
    const share = trained[index]! * count
    return share === 0
      ? [...examples]
      : examples.map((example) => ({ ...example, weights: divided(example.weights, share) }))
  })
}

function total(weights: ArrayLike<number>): number {
  let sum = 0
  for (let at = 1; at < weights.length; at++) sum += weights[at]!
  return sum
}

/** No clipping for any ratio: the gradient of the objective is then r·A·∇log p. */
export function unclippedLoss(temperature: number): PolicyLoss {
  return { kind: 'policy', temperature, lowestRatio: 0, highestRatio: 1e20 }
}

/**
 * The k3 estimate of the KL divergence from a reference, exp(d) − d − 1 with d = log p_ref − log p, has the gradient
 * (1 − exp(d))·∇log p. At the current policy the ratio is 1, so an advantage of −kl·(1 − exp(d)) gives exactly that.
 * `current` are log-probabilities at the weights where the gradient is computed.
 *
 * Over sampled tokens this is the gradient of KL(reference ‖ model). With k1 the advantage is kl·d, limited to ±5·kl: the gradient of
 * KL(model ‖ reference), which is on-policy distillation if the reference is a better model.
 */
export function klExamples(
  examples: readonly PolicyExample[],
  current: readonly Float32Array[],
  reference: readonly Float32Array[],
  kl: number,
  estimate: KlEstimate = 'k3',
): PolicyExample[] {
  return examples.map((example, index) => {
    const now = current[index]!
    const then = reference[index]!
    const advantages = new Float32Array(now.length)
    for (let at = 0; at < now.length; at++)
      if (example.weights[at] !== 0) advantages[at] = kl * pull(then[at]! - now[at]!, estimate)
    return { ...example, sampledLogprobs: now, oldLogprobs: now, advantages }
  })
}

export type KlEstimate = 'k1' | 'k3'

/** A token that one of the two models finds nearly impossible must not outweigh all others. */
const MOST_PULL = 5

function pull(distance: number, estimate: KlEstimate): number {
  if (estimate === 'k3') return Math.exp(distance) - 1
  return Math.max(-MOST_PULL, Math.min(MOST_PULL, distance))
}

/** exp(d) − d − 1 summed over trained tokens, and their number. */
export function klSum(
  examples: readonly PolicyExample[],
  current: readonly Float32Array[],
  reference: readonly Float32Array[],
): { sum: number; tokens: number } {
  let [sum, tokens] = [0, 0]
  for (const [index, { weights }] of examples.entries()) {
    for (let at = 1; at < weights.length; at++) {
      if (weights[at] === 0) continue
      const distance = reference[index]![at]! - current[index]![at]!
      sum += Math.exp(distance) - distance - 1
      tokens++
    }
  }
  return { sum, tokens }
}
