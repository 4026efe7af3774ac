/** The report of a run as a self-contained page. */
export { type Comparison, type ComparisonRow, comparisonOf } from './comparison.ts'
export { type ReportOptions, writeReport } from './write-report.ts'
