/** A dataset of sequences in the formats of other trainers, with a card, and a check that reads it back. */
export { type CheckContext, checkExport } from './check.ts'
export type { CheckResult } from './check-findings.ts'
export { formats } from './formats/index.ts'
export {
  type ExportConfig,
  type ExportContext,
  type ExportSummary,
  exportRun,
  type FormatSummary,
} from './run.ts'
