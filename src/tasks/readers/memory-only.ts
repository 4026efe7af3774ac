import { UsageError } from '../../base/errors/index.ts'
import type { Task } from '../../schema/index.ts'

/** In the meta of a task whose publisher asks that it never stand in the open, on disk or online. */
export const memoryOnly = { memoryOnly: true } as const

export const isMemoryOnly = (task: Task): boolean => task.meta['memoryOnly'] === true

/**
 * The guard before a task is written anywhere: a run's log, an export, a page. Throws for a task that must stay in
 * memory. Who wants it on disk all the same reads it with `allowPlainText`, which leaves the mark out.
 */
export function assertMayBeWritten(task: Task): void {
  if (!isMemoryOnly(task)) return
  throw new UsageError(`${task.id} is from a benchmark that is published in encrypted form only`, {
    fix: 'Keep it in memory: use it without writing tasks, or ask for plain text explicitly and keep the file private.',
  })
}
