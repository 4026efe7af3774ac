import type { Rollout, Verdict } from '../../schema/index.ts'

export type Outcome = Verdict['outcome'] | 'unchecked'
export type Stop = Rollout['stop']

export interface Page<Row> {
  rows: Row[]
  /** Undefined on the last page. */
  next?: string
  /** How many rows match, if that is known without counting. */
  total?: number
  /** While the log is read for the first time: how much of it has been. The rows are those found so far. */
  indexing?: Indexing
}

export interface Indexing {
  bytes: number
  of: number
}

/** The body of every response that is not 2xx. */
export interface ApiProblem {
  error: { message: string; fix?: string; code: string }
}
