export type { ValidationReport } from './report.ts'
export { type ValidateOptions, validateTasks } from './validate-tasks.ts'
