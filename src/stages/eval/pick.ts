import { pickByJudge, pickByMajority } from '../../agent/index.ts'
import { inParallel } from '../../base/concurrency/index.ts'
import { allFailed, type Failure } from '../../base/errors/index.ts'
import type { EvalAttempt, Task } from '../../schema/index.ts'
import type { Run } from '../../store/index.ts'
import type { ChatModel } from '../../world/models/index.ts'
import { itemsOf } from './outcome.ts'

/** Chooses one of the attempts at a task, or none. */
export type Picker = (attempts: readonly EvalAttempt[]) => EvalAttempt | undefined

/** What a picker sees of an attempt; a failed one has no answer. */
function candidateOf({ answer, failure }: EvalAttempt): { answer?: string } {
  return answer === undefined || failure !== undefined ? {} : { answer }
}

/** Majority vote. */
export const byMajority: Picker = (attempts) => {
  const { chosen } = pickByMajority(attempts.map(candidateOf))
  return chosen === undefined ? undefined : attempts[chosen]
}

/** The attempt the checker scores highest. The checker knows the gold answer, so this is an upper bound. */
const byOracle: Picker = (attempts) => {
  const scoreOf = ({ failure, verdict: { outcome, score = 0 } }: EvalAttempt): number =>
    failure !== undefined ? -1 : outcome === 'correct' ? 2 : score
  return [...attempts].sort((one, other) => scoreOf(other) - scoreOf(one))[0]
}

/** The attempt the judge chose when the attempts were made, or the majority if it chose none. */
const byJudge: Picker = (attempts) => attempts.find(({ picked }) => picked === true) ?? byMajority(attempts)

export const pickers: Record<string, Picker> = { majority: byMajority, oracle: byOracle, judge: byJudge }

export interface JudgePickContext {
  run: Run
  tasks: readonly Task[]
  solvers: readonly string[]
  signal: AbortSignal
  concurrency: number
}

/**
 * Lets a model choose among the attempts at each task. It sees only the question and the answers. Its choices are
 * stored with the attempts, so that a report can be reproduced.
 */
export async function pickWithJudge(judge: ChatModel, context: JudgePickContext): Promise<void> {
  const { run, tasks, solvers, signal, concurrency } = context
  const attempts = [...run.scan('attempt')]
  const questions = new Map(tasks.map(({ id, question }) => [id, question]))
  const open = solvers
    .flatMap((solver) => itemsOf(attempts, solver))
    .filter(
      (item) =>
        questions.has(item.taskId) &&
        item.attempts.length > 1 &&
        item.attempts.some(({ picked }) => picked === undefined),
    )
  const failures: Failure[] = []
  await inParallel(open, concurrency, async ({ taskId, attempts: tries }) => {
    const question = questions.get(taskId)!
    const { chosen, by, reason } = await pickByJudge(
      { question, candidates: tries.map(candidateOf) },
      judge,
      signal,
    )
    if (by !== 'judge') failures.push({ boundary: 'model', message: reason })
    // A majority vote used as a fallback is not the judge's choice.
    const picked = by === 'judge' && chosen !== undefined ? tries[chosen]! : undefined
    run.appendMany(
      'attempt',
      tries.map((attempt) => ({ ...attempt, picked: attempt === picked })),
    )
  })
  if (open.length > 0 && failures.length === open.length)
    throw allFailed('choices', failures, 'Check [judge], or set eval.picker to "majority".')
}
