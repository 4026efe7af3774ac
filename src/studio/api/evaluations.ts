import type { Estimate, EvalReport, PairReport, SolverReport } from '../../schema/index.ts'

export interface EvalRow {
  id: string
  tasks: number
  solvers: { name: string; kind: string; accuracy: Estimate }[]
}

export interface EvalView {
  id: string
  suites: EvalReport['suites']
  solvers: SolverReport[]
  pairs: PairReport[]
  tasks: number
  disagreements: number
}

/** One row of the matrix of tasks and solvers. */
export interface EvalItem {
  taskId: string
  suite: string
  level?: number
  hops?: number
  question?: string
  /** By solver, a letter for each attempt: c correct, w wrong, u undecided, f failed. */
  outcomes: Record<string, string>
}

/** Two solvers, of one evaluation or of two, on the tasks that both were given. */
export interface EvalDiff {
  before: { run: string; eval: string; solver: string; accuracy: Estimate }
  after: { run: string; eval: string; solver: string; accuracy: Estimate }
  shared: number
  gained: EvalItem[]
  lost: EvalItem[]
  /** Over the tasks that both have. */
  difference: Estimate | null
  p: number
}
