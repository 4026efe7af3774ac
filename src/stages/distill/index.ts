/** A team's run → one voice: Trajectory to Stream, with where every span comes from. */
export { type DistillOptions, distillTrajectory, sequenceId } from './distill-trajectory.ts'
export { type ExplainedRow, type Explanation, explain } from './explain.ts'
export { type ChatHead, type ChatMessage, trajectoryFromChat } from './foreign/chatml.ts'
export { searchAndRead, searchAndReadMap } from './foreign/search-and-read.ts'
export type { DistillMap } from './rules.ts'
export { type DistillSummary, run } from './run.ts'
export { distillSmoothly } from './smooth.ts'
export { distill } from './stage.ts'
