import { allFailed } from '../base/errors/index.ts'
import type { Rollout } from '../schema/index.ts'
import { enteredTokens } from './stream-tokens.ts'

/** Results of a policy. Unchecked answers and external failures are counted separately. */
export interface Score {
  count: number
  correct: number
  undecided: number
  failed: number
  /** Share of correct ones among all rollouts. */
  accuracy: number
  wellFormed: number
  tokens: number
  calls: number
}

export function scoreOf(rollouts: readonly Rollout[]): Score {
  const failed = rollouts.filter(({ failure }) => failure !== undefined)
  const fair = rollouts.filter(({ failure }) => failure === undefined)
  const undecided = fair.filter(({ verdict }) => verdict?.outcome === 'undecided').length
  const correct = fair.filter(({ verdict }) => verdict?.outcome === 'correct').length
  const mean = (of: (rollout: Rollout) => number): number =>
    rollouts.reduce((sum, rollout) => sum + of(rollout), 0) / Math.max(1, rollouts.length)
  return {
    count: rollouts.length,
    correct,
    undecided,
    failed: failed.length,
    accuracy: correct / Math.max(1, rollouts.length),
    wellFormed: mean(({ wellFormed }) => (wellFormed ? 1 : 0)),
    tokens: mean((rollout) => Object.values(enteredTokens(rollout)).reduce((sum, count) => sum + count, 0)),
    calls: mean(({ calls }) => calls.length),
  }
}

/** If all rollouts failed, there is no score, not even 0. */
export function refuseAllFailed(rollouts: readonly Rollout[]): void {
  const failures = rollouts.flatMap(({ failure }) => failure ?? [])
  if (failures.length > 0 && failures.length === rollouts.length)
    throw allFailed('rollouts', failures, 'Fix the cause, then try again; `coa doctor` checks the setup.')
}
