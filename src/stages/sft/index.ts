export { sftCurve } from './curve.ts'
export { run as sft, type SftContext } from './run.ts'
