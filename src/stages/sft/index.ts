export { sftCurve } from './curve.ts'
export { run, type SftContext } from './run.ts'
export { sft } from './stage.ts'
