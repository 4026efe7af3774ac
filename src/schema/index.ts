/** Records passed between stages. No Node built-ins here, so that this folder can be used in a browser. */
export { Checkpoint } from './checkpoint.ts'
export {
  type Estimate,
  EvalAttempt,
  EvalReport,
  EvalTokens,
  type PairReport,
  Price,
  type SolverReport,
} from './eval-report.ts'
export { RunManifest } from './manifest.ts'
export { latestMarks, MARK_TEXT_LIMIT, Mark, markId } from './mark.ts'
export { migrate } from './migrate.ts'
export { parseJson } from './parse-json.ts'
export { PassRate } from './pass-rate.ts'
export { PathName } from './path-name.ts'
export { type RecordKind, type RecordOf, recordKinds, recordSchemas } from './records.ts'
export { Rollout } from './rollout.ts'
export { Selection } from './selection.ts'
export {
  isReact,
  isTrained,
  Message,
  reactId,
  reactOrigin,
  Span,
  SpanKind,
  Stream,
  streamText,
} from './stream.ts'
export { type Checker, Gold, type Split, Task } from './task.ts'
export { Contribution, Trajectory, TrajectoryEvent } from './trajectory.ts'
export { Verdict } from './verdict.ts'
