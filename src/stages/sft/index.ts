export { type SftRow, sftCurve } from './curve.ts'
export { run, type SftContext, type SftSummary } from './run.ts'
export { sft } from './stage.ts'
