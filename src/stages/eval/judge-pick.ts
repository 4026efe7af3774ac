import { pickByJudge } from '../../agent/index.ts'
import { inParallel } from '../../base/concurrency/index.ts'
import { allFailed, type Failure } from '../../base/errors/index.ts'
import type { Task } from '../../schema/index.ts'
import type { Run } from '../../store/index.ts'
import type { ChatModel } from '../../world/models/index.ts'
import { itemsOf } from './outcome.ts'
import { candidateOf } from './pick.ts'

export interface JudgePickContext {
  run: Run
  tasks: readonly Task[]
  solvers: readonly string[]
  signal: AbortSignal
  concurrency: number
}

/**
 * Has a model choose among the attempts at each task. It sees the question and the answers and nothing else. What it
 * chose is stored with the attempts, so that a report made again says the same.
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
    // A majority that stood in for the judge is not the judge's choice.
    const picked = by === 'judge' && chosen !== undefined ? tries[chosen]! : undefined
    run.appendMany(
      'attempt',
      tries.map((attempt) => ({ ...attempt, picked: attempt === picked })),
    )
  })
  if (open.length > 0 && failures.length === open.length)
    throw allFailed('choices', failures, 'Check [judge], or set eval.picker to "majority".')
}
