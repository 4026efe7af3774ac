/** Verdicts for the answers of a run. */
export { checkContext } from './check-context.ts'
export type { CheckSummary } from './report.ts'
export { check } from './stage.ts'
