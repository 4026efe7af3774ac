import type { Gold, Task } from '../../schema/index.ts'
import type { Row } from './row.ts'

/** What a format makes of a row. Suite, domain and split are added by the reader where they are left out. */
export interface TaskDraft {
  /** Names the task within its suite. Without one, the question does: its hash is the id. */
  key?: string | undefined
  /** The whole id, where the row has one made by coa. */
  id?: string | undefined
  question: string
  gold: Gold
  suite?: string | undefined
  domain?: string | undefined
  split?: Task['split'] | undefined
  level?: number | undefined
  /** Fields without a value are left out of the task. */
  meta?: Record<string, unknown>
}

/** How the rows of a file become tasks. */
export interface Format {
  /** Said when a file does not fit: what a row must have, alternatives joined by "or". */
  columns: readonly string[]
  /** Throws a RowProblem or a RowSkipped where a row gives no task. */
  draft(row: Row): TaskDraft
  /** In a JSON file with one large object, the key of the list of rows. */
  listKey?: string
  /** Heavy columns of Parquet files that no task needs. */
  ignored?: readonly string[]
}
