/** Records that cross a stage. No Node built-ins here: the studio imports this folder. */
export { Checkpoint } from './checkpoint.ts'
export {
  type Estimate,
  EvalAttempt,
  EvalReport,
  EvalTokens,
  type PairReport,
  type SolverReport,
} from './eval-report.ts'
export { RunManifest } from './manifest.ts'
export { parseJson } from './parse-json.ts'
export { PassRate } from './pass-rate.ts'
export { PathName } from './path-name.ts'
export { type RecordKind, type RecordOf, recordKinds, recordSchemas } from './records.ts'
export { Rollout, RolloutSegment } from './rollout.ts'
export { Selection } from './selection.ts'
export {
  CoaSequence,
  isReact,
  Message,
  reactId,
  reactOrigin,
  Span,
  SpanKind,
  sequenceText,
} from './sequence.ts'
export { Gold, Task } from './task.ts'
export { Contribution, Trajectory, TrajectoryEvent } from './trajectory.ts'
export { Verdict } from './verdict.ts'
