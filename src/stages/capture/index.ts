export type { RecordSummary } from './gateway/record-runs.ts'
export type { RunStatus } from './gateway/run-status.ts'
export type { ImportSummary } from './import/import-report.ts'
export { importRuns, record } from './stage.ts'
