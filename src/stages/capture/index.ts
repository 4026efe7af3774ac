export type { ImportSummary } from './import/import-report.ts'
export { importRuns } from './stage.ts'
