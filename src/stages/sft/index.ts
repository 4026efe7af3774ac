export { type SftRow, sftCurve } from './curve.ts'
export { run as sft, type SftContext, type SftSummary } from './run.ts'
