/** A team's run → one voice: Trajectory to CoaSequence, with where every span comes from. */
export { type DistilOptions, distil, sequenceId } from './distil.ts'
export { type ExplainedRow, type Explanation, explain } from './explain.ts'
export { type ChatHead, type ChatMessage, trajectoryFromChat } from './foreign/chatml.ts'
export { searchAndRead, searchAndReadMap } from './foreign/search-and-read.ts'
export type { DistilMap } from './rules.ts'
export { type DistilContext, type DistilSummary, run } from './run.ts'
export { distilSmoothly, type Joint, type Smooth, smoothWith } from './smooth.ts'
