import type { Verdict } from '../schema/index.ts'

export interface RewardOptions {
  /** Partial credit: the verdict's score (fraction of tests passed, token F1) instead of all or nothing. */
  partial?: boolean
  /** Whether the sequence follows its grammar, and the reward for that. Without it the format does not count. */
  format?: { isWellFormed: boolean; bonus?: number; penalty?: number }
  /** Additional reward terms. */
  terms?: readonly number[]
}

/**
 * The reward of a verdict: 1 or 0, plus what the options add. Null for an undecided verdict, whatever the options: a check that
 * was not carried out must not change the policy.
 *
 * @example
 * import { checkAnswer, rewardOf } from 'chain-of-agents'
 *
 * const verdict = await checkAnswer({ checker: 'exact', answers: ['Lima'] }, 'Lima')
 * console.log(rewardOf(verdict, { format: { isWellFormed: false, penalty: 0.1 } }))
 */
export function rewardOf(verdict: Verdict, options: RewardOptions = {}): number | null {
  if (verdict.outcome === 'undecided') return null
  const isCorrect = verdict.outcome === 'correct'
  const answer = options.partial === true && !isCorrect ? (verdict.score ?? 0) : isCorrect ? 1 : 0
  const { format, terms = [] } = options
  const form = format === undefined ? 0 : format.isWellFormed ? (format.bonus ?? 0) : -(format.penalty ?? 0)
  return terms.reduce((sum, term) => sum + term, answer + form)
}
