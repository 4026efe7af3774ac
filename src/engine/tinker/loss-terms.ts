import type { Loss, TrainingExample } from '../contract.ts'

export interface LossTerms {
  /** The weighted sum over the tokens. */
  loss: number
  /** The negative derivative of the loss in each token's log-probability. The first entry is unused. */
  negativeGradient: Float64Array
}

/** Bound on the absolute log-ratio, as in the embedded engine. */
const MAX_LOG_RATIO = 20

/**
 * A loss computed from known log-probabilities: its value, and its derivative in each of them. Sending the derivatives to
 * a server that only supports another loss gives the same gradient.
 */
export function lossTerms(example: TrainingExample, logprobs: ArrayLike<number>, loss: Loss): LossTerms {
  const { tokens, weights } = example
  const negativeGradient = new Float64Array(tokens.length)
  let sum = 0
  for (let at = 1; at < tokens.length; at++) {
    const weight = weights[at]!
    // Other inputs of a zero-weight token must not affect the sum.
    if (weight === 0) continue
    const logprob = logprobs[at]!
    const { objective, derivative } =
      loss.kind === 'policy' ? policyTerm(example, at, logprob, loss) : { objective: logprob, derivative: 1 }
    sum -= weight * objective
    negativeGradient[at] = weight * derivative
  }
  return { loss: sum, negativeGradient }
}

function policyTerm(
  { sampledLogprobs, oldLogprobs, advantages }: TrainingExample,
  at: number,
  logprob: number,
  { lowestRatio, highestRatio, dualClip, importanceCap }: Extract<Loss, { kind: 'policy' }>,
): { objective: number; derivative: number } {
  const sampled = sampledLogprobs![at]!
  const old = (oldLogprobs ?? sampledLogprobs)![at]!
  const advantage = advantages![at]!
  const logRatio = Math.min(Math.max(logprob - old, -MAX_LOG_RATIO), MAX_LOG_RATIO)
  const ratio = Math.exp(logRatio)
  const clipped = Math.min(Math.max(ratio, lowestRatio), highestRatio) * advantage
  let objective = ratio * advantage
  // A clamped ratio does not depend on the log-probability.
  let derivative = logRatio === logprob - old ? objective : 0
  if (clipped < objective) [objective, derivative] = [clipped, 0]
  if (dualClip !== undefined && advantage < 0 && dualClip * advantage > objective)
    [objective, derivative] = [dualClip * advantage, 0]
  const factor = importanceCap === undefined ? 1 : Math.min(Math.exp(old - sampled), importanceCap)
  return { objective: factor * objective, derivative: factor * derivative }
}
