import type { EvalTokens, Rollout, Task, Trajectory, Verdict } from '../../schema/index.ts'

/** The result of one attempt at one task. */
export interface Attempt {
  /** Missing if none was given, which counts as wrong. */
  answer?: string
  verdict: Verdict
  tokens: EvalTokens
  /** Tool calls. */
  calls: number
  /** Model requests. */
  requests: number
  ms: number
  /** Whether the text follows its grammar, if there is one. */
  wellFormed?: boolean
  /** Something outside the solver failed: the attempt says nothing about it. */
  failure?: { boundary: string; message: string }
  /** The full record, for inspection. */
  written?: { kind: 'rollout'; record: Rollout } | { kind: 'trajectory'; record: Trajectory }
}

/** Anything that can solve a task. An expected failure is an attempt with `failure`; exceptions become one. */
export interface Solver {
  /** Short, and unique within the run. */
  name: string
  kind: 'model' | 'team' | 'plain' | 'react' | (string & {})
  /** Digest of everything its results depend on: attempts made differently are not mixed. */
  how: string
  /** Which tokenizer counts its tokens; see `tokenizerName`. */
  tokenizer: string
  /** The same task, attempt and seed give the same result, as far as the solver is deterministic. */
  solve(task: Task, attempt: number, seed: number, signal: AbortSignal): Promise<Attempt>
}
