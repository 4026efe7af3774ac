import type { Loss, TrainingExample } from '../contract.ts'

export interface LossTerms {
  /** Summed over the tokens by their weights. */
  loss: number
  /** How strongly each token's log-probability is pulled up: minus the slope of the loss. The first is idle. */
  pull: Float64Array
}

/** The logarithm of a ratio is held within this on both sides, as in the embedded engine. */
const MOST_LOG_RATIO = 20

/**
 * A loss worked out from log-probabilities that are known: its value, and its slope in each of them. A server that only
 * knows some other loss can be given the slopes, and the gradient is the same.
 */
export function lossTerms(example: TrainingExample, logprobs: ArrayLike<number>, loss: Loss): LossTerms {
  const { tokens, weights } = example
  const pull = new Float64Array(tokens.length)
  let sum = 0
  for (let at = 1; at < tokens.length; at++) {
    const weight = weights[at]!
    // Whatever stands beside a token of no weight must not reach the sum.
    if (weight === 0) continue
    const logprob = logprobs[at]!
    const { objective, slope } =
      loss.kind === 'policy' ? policyTerm(example, at, logprob, loss) : { objective: logprob, slope: 1 }
    sum -= weight * objective
    pull[at] = weight * slope
  }
  return { loss: sum, pull }
}

function policyTerm(
  { sampledLogprobs, oldLogprobs, advantages }: TrainingExample,
  at: number,
  logprob: number,
  { lowestRatio, highestRatio, dualClip, importanceCap }: Extract<Loss, { kind: 'policy' }>,
): { objective: number; slope: number } {
  const sampled = sampledLogprobs![at]!
  const old = (oldLogprobs ?? sampledLogprobs)![at]!
  const advantage = advantages![at]!
  const apart = Math.min(Math.max(logprob - old, -MOST_LOG_RATIO), MOST_LOG_RATIO)
  const ratio = Math.exp(apart)
  const clipped = Math.min(Math.max(ratio, lowestRatio), highestRatio) * advantage
  let objective = ratio * advantage
  // Where the ratio is held, it does not change with the log-probability.
  let slope = apart === logprob - old ? objective : 0
  if (clipped < objective) [objective, slope] = [clipped, 0]
  if (dualClip !== undefined && advantage < 0 && dualClip * advantage > objective)
    [objective, slope] = [dualClip * advantage, 0]
  const factor = importanceCap === undefined ? 1 : Math.min(Math.exp(old - sampled), importanceCap)
  return { objective: factor * objective, slope: factor * slope }
}
