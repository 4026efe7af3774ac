import { pickByMajority } from '../../agent/index.ts'
import type { EvalAttempt } from '../../schema/index.ts'

/** Chooses one of the attempts at a task; undefined where it chooses none. */
export type Picker = (attempts: readonly EvalAttempt[]) => EvalAttempt | undefined

/** What the pickers of the student's answers get to see: an attempt that failed has no answer. */
export function candidateOf({ answer, failure }: EvalAttempt): { answer?: string } {
  return answer === undefined || failure !== undefined ? {} : { answer }
}

/** The answer that most attempts gave. */
export const byMajority: Picker = (attempts) => {
  const { chosen } = pickByMajority(attempts.map(candidateOf))
  return chosen === undefined ? undefined : attempts[chosen]
}

/** The one the checker scores highest. The checker knows the gold answer, so no real picker can do better. */
const byOracle: Picker = (attempts) => {
  const scoreOf = ({ failure, verdict: { outcome, score = 0 } }: EvalAttempt): number =>
    failure !== undefined ? -1 : outcome === 'correct' ? 2 : score
  return [...attempts].sort((one, other) => scoreOf(other) - scoreOf(one))[0]
}

/** The one a judge chose when the attempts were made. Where it chose none, the most frequent. */
const byJudge: Picker = (attempts) => attempts.find(({ picked }) => picked === true) ?? byMajority(attempts)

export const pickers: Record<string, Picker> = { majority: byMajority, oracle: byOracle, judge: byJudge }
