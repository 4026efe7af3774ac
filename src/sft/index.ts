export { type SftRow, sftCurve } from './curve.ts'
export type { Selected } from './examples.ts'
export { run as sft, type SftContext, type SftSummary } from './run.ts'
export type { Evaluate } from './training.ts'
