import { answerKey } from '../../agent/index.ts'
import type { EvalAttempt } from '../../schema/index.ts'

/** Chooses one of the attempts at a task; undefined where it chooses none. */
export type Picker = (attempts: readonly EvalAttempt[]) => EvalAttempt | undefined

/** The answer that most attempts gave, doubtful cases kept apart; of several the one given first. */
export const byMajority: Picker = (attempts) => {
  const votes = new Map<string, { first: EvalAttempt; count: number }>()
  for (const attempt of attempts) {
    if (attempt.answer === undefined || attempt.failure !== undefined) continue
    const key = answerKey(attempt.answer)
    const vote = votes.get(key) ?? { first: attempt, count: 0 }
    vote.count++
    votes.set(key, vote)
  }
  const most = Math.max(0, ...[...votes.values()].map(({ count }) => count))
  return [...votes.values()].find(({ count }) => count === most)?.first
}

/** The one the checker likes best. It knows the gold answer, so this is what no picker can surpass. */
const byVerifier: Picker = (attempts) => {
  const scoreOf = ({ failure, verdict: { outcome, score = 0 } }: EvalAttempt): number =>
    failure !== undefined ? -1 : outcome === 'correct' ? 2 : score
  return [...attempts].sort((one, other) => scoreOf(other) - scoreOf(one))[0]
}

/** The one a judge chose when the attempts were made. Where it chose none, the most frequent. */
const byJudge: Picker = (attempts) => attempts.find(({ picked }) => picked === true) ?? byMajority(attempts)

export const pickers: Record<string, Picker> = { majority: byMajority, verifier: byVerifier, judge: byJudge }
