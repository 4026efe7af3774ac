/**
 * The records that pass between stages, as Zod schemas; each name is also the type of the parsed record. No Node built-ins: this
 * entry point works in a browser.
 */

// Tasks and answers

export { Gold, Task } from './task.ts'
export { Verdict } from './verdict.ts'

// What agents wrote

export { Message, Span, type SpanKind, Stream, streamText } from './stream.ts'
export { type Contribution, Trajectory, TrajectoryEvent } from './trajectory.ts'
export type { Usage } from './usage.ts'

// Training and evaluation

export { Checkpoint } from './checkpoint.ts'
export {
  type Estimate,
  EvalAttempt,
  EvalReport,
  type EvalTokens,
  type PairReport,
  type SolverReport,
} from './eval-report.ts'
export { Mark } from './mark.ts'
export { PassRate } from './pass-rate.ts'
export { Rollout } from './rollout.ts'
export type { Selection } from './selection.ts'

// Runs

export { RunManifest } from './manifest.ts'
export { type RecordKind, type RecordOf, recordSchemas } from './records.ts'
