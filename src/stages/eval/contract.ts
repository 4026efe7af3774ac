import type { EvalTokens, Rollout, Task, Trajectory, Verdict } from '../../schema/index.ts'

/** What came of one try at one task. */
export interface Attempt {
  /** Left out where none was given: that is wrong, not left out. */
  answer?: string
  verdict: Verdict
  tokens: EvalTokens
  /** Of tools. */
  calls: number
  /** To a model. */
  requests: number
  ms: number
  /** Whether the text keeps to its grammar, where there is one. */
  wellFormed?: boolean
  /** Something outside of the solver failed: the attempt says nothing about it. */
  failure?: { boundary: string; message: string }
  /** What was written, for who wants to look. */
  written?: { kind: 'rollout'; record: Rollout } | { kind: 'trajectory'; record: Trajectory }
}

/** Anything that can be given a task. A foreseen failure is an attempt with `failure`; what is thrown becomes one. */
export interface Solver {
  /** Short, and unlike that of any other solver of the run. */
  name: string
  kind: 'model' | 'team' | 'plain' | 'react' | (string & {})
  /** Digest of everything its work depends on: attempts that were made in another way are not mixed with new ones. */
  how: string
  /** Which tokenizer counts its tokens; see `tokenizerName`. */
  tokenizer: string
  /** The same task, attempt and seed give the same attempt where the solver can help it. */
  solve(task: Task, attempt: number, seed: number, signal: AbortSignal): Promise<Attempt>
}
