import { digestOf } from '../../base/digests/index.ts'
import { normalizeText } from '../../reward/index.ts'
import type { EvalAttempt, Task } from '../../schema/index.ts'
import { isMemoryOnly } from '../../tasks/index.ts'
import type { Attempt, Solver } from './contract.ts'

/** Which attempt of which solver at which task. */
export interface AttemptJob {
  id: string
  solver: Solver
  task: Task
  position: number
  attempt: number
  seed: number
}

export function attemptId(solver: string, taskId: string, attempt: number): string {
  return `${solver}|${taskId}#${attempt}`
}

/** An attempt as it is stored. Of a task that must not be written, neither the answer nor the evidence is. */
export function attemptRecord(job: AttemptJob, made: Attempt, tries: number, isKept: boolean): EvalAttempt {
  const { id, solver, task, position, attempt, seed } = job
  const { written, answer, verdict, ...rest } = made
  const isSecret = isMemoryOnly(task)
  const hops = task.meta['hops']
  return {
    v: 1,
    id,
    solver: solver.name,
    kind: solver.kind,
    how: solver.how,
    tokenizer: solver.tokenizer,
    taskId: task.id,
    position,
    suite: task.suite,
    ...(task.level === undefined ? {} : { level: task.level }),
    ...(typeof hops === 'number' ? { hops } : {}),
    attempt,
    seed,
    tries,
    ...(answer === undefined ? {} : { answer: isSecret ? digestOf(normalizeText(answer)) : answer }),
    verdict: isSecret ? { ...verdict, evidence: '' } : verdict,
    ...rest,
    ...(isKept && written !== undefined ? { source: { kind: written.kind, id: written.record.id } } : {}),
  }
}
