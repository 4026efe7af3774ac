import type { Gold, Task } from '../../schema/index.ts'
import type { Row } from './row.ts'

/** A task as a format reads it from a row. The reader adds the suite, domain and split if they are missing. */
export interface TaskDraft {
  /** Identifies the task within its suite; by default a hash of the question. */
  key?: string | undefined
  /** The complete id, if the row was written by coa. */
  id?: string | undefined
  question: string
  gold: Gold
  suite?: string | undefined
  domain?: string | undefined
  split?: Task['split'] | undefined
  level?: number | undefined
  /** Fields without a value are omitted from the task. */
  meta?: Record<string, unknown>
}

/** How the rows of a file become tasks. */
export interface Format {
  /** The required columns, for error messages; alternatives are joined by "or". */
  columns: readonly string[]
  /** Throws a RowProblem or RowSkipped if a row does not give a task. */
  draft(row: Row): TaskDraft
  /** In a JSON file with one large object, the key of the list of rows. */
  listKey?: string
  /** Large columns of Parquet files that no task needs. */
  ignored?: readonly string[]
}
