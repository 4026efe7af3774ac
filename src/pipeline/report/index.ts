/** What came of a run, as one page that needs nothing else. */
export { type Comparison, type ComparisonRow, comparisonOf } from './comparison.ts'
export { type ReportOptions, writeReport } from './write-report.ts'
