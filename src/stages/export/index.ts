/** Exports sequences in the formats of other trainers, with a dataset card, and checks exports. */
export { checkExport } from './check.ts'
export type { CheckResult } from './check-findings.ts'
export { formats } from './formats/index.ts'
export { otlpMetrics, sendOtlp } from './metrics/otlp.ts'
export { tensorboardEvents } from './metrics/tensorboard.ts'
export { type ExportSummary, exportRun, type FormatSummary } from './run.ts'
