import { UsageError } from '../../base/errors/index.ts'

/** Meta of a task whose publisher asks that it never be published in plain text. */
export const memoryOnly = { memoryOnly: true } as const

export const isMemoryOnly = ({ meta }: { meta: Record<string, unknown> }): boolean =>
  meta['memoryOnly'] === true

/**
 * Throws for a task that must stay in memory. Called before a task is written anywhere: a log, an export, a page. Tasks
 * read with `allowPlainText` are not marked and may be written.
 */
export function assertMayBeWritten(task: { id: string; meta: Record<string, unknown> }): void {
  if (!isMemoryOnly(task)) return
  throw new UsageError(`${task.id} is from a benchmark that is published only in encrypted form`, {
    fix: 'Use it without writing tasks, or request plain text explicitly and keep the file private.',
  })
}
