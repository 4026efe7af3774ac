import { inParallel } from '../../base/concurrency/index.ts'
import type { Observe } from '../../base/progress/index.ts'
import { type CheckContext, checkAnswer } from '../../reward/index.ts'
import type { Task, Verdict } from '../../schema/index.ts'
import { isMemoryOnly } from '../readers/index.ts'
import { Tally, type ValidationReport } from './report.ts'
import { rightAnswers, wrongAnswers } from './sample-answers.ts'

export interface ValidateOptions extends Pick<CheckContext, 'sandbox' | 'judge' | 'code'> {
  /** Tasks checked at the same time. */
  concurrency?: number
  /** Number of tasks, if known. */
  total?: number
  observe?: Observe
  signal?: AbortSignal
}

/** How many answers of earlier tasks are kept to be used as wrong answers. */
const answersKept = 100

/**
 * Tests whether each task's checker accepts its gold answer and rejects a wrong one. A bad task never stops it; what cannot be
 * tested without a sandbox or a judge is counted and not held against the task.
 *
 * @example
 * import { openTasks, validateTasks } from 'chain-of-agents'
 *
 * const report = await validateTasks(openTasks({ from: 'math', data: 'data', limit: 20 }))
 * console.log(report.tasks, report.failed, report.failures)
 */
export async function validateTasks(
  tasks: Iterable<Task> | AsyncIterable<Task>,
  options: ValidateOptions = {},
): Promise<ValidationReport> {
  const { concurrency = 2, observe, signal, total } = options
  const tally = new Tally()
  const others: string[] = []
  let done = 0
  await inParallel(tasks, concurrency, async (task) => {
    signal?.throwIfAborted()
    await validateTask(task, [...others].reverse(), tally, options)
    remember(task, others)
    observe?.({ stage: 'validate', done: ++done, total, unit: 'tasks' })
  })
  signal?.throwIfAborted()
  return tally.report()
}

async function validateTask(
  task: Task,
  others: string[],
  tally: Tally,
  options: ValidateOptions,
): Promise<void> {
  const { checker } = task.gold
  const counts = tally.of(task.suite, checker)
  counts.tasks++
  if (checker === 'none') return tally.notChecked('has no gold answer')
  if (checker === 'judge' && options.judge === undefined) return tally.notChecked('needs a judge')
  if (checker === 'code' && options.sandbox === undefined) return tally.notChecked('needs a sandbox')
  const { sandbox, judge, code, signal } = options
  const context: CheckContext = { question: task.question }
  Object.assign(context, sandbox && { sandbox }, judge && { judge }, code && { code }, signal && { signal })

  const accepted = rightAnswers(task)
  if (accepted.length === 0) tally.notChecked('has no reference solution')
  for (const answer of accepted) {
    const checked = await checkAnswer(task.gold, answer, context)
    counts.right[checked.outcome]++
    if (checked.outcome !== 'correct') fail(task, 'right', checked, tally)
  }
  const checked = await firstRejected(task, wrongAnswers(task, others), context)
  counts.wrong[checked.outcome]++
  if (checked.outcome !== 'wrong') fail(task, 'wrong', checked, tally)
}

/** The verdict on the first wrong answer that is rejected, or else on the last one. */
async function firstRejected(task: Task, answers: string[], context: CheckContext): Promise<Verdict> {
  let last: Verdict | undefined
  for (const answer of answers) {
    last = await checkAnswer(task.gold, answer, context)
    if (last.outcome === 'wrong') break
  }
  return last!
}

function fail(task: Task, answer: 'right' | 'wrong', { outcome, evidence }: Verdict, tally: Tally): void {
  // Evidence quotes answers, and those of an encrypted benchmark must not appear in a report.
  const shown = isMemoryOnly(task) ? 'not shown: its texts are kept in memory only' : evidence
  tally.failed({ id: task.id, suite: task.suite, answer, outcome, evidence: shown })
}

function remember({ gold }: Task, others: string[]): void {
  const answer =
    gold.checker === 'exact' ? gold.answers[0] : gold.checker === 'judge' ? gold.answer : undefined
  if (answer === undefined) return
  others.push(answer)
  if (others.length > answersKept) others.shift()
}
