/** Distills team runs into single-agent sequences: Trajectory to Stream, with the source events of every span. */

export { type ChatHead, type ChatMessage, trajectoryFromChat } from './chatml.ts'
export { type DistillOptions, distillTrajectory, sequenceId } from './distill-trajectory.ts'
export { type ExplainedRow, type Explanation, explain } from './explain.ts'
export { fitRun } from './fit.ts'
export type { DistillMap } from './rules.ts'
export { run } from './run.ts'
export { distillSmoothly } from './smooth.ts'
export { distill } from './stage.ts'
export type { DistillSummary } from './tally.ts'
