import { join } from 'node:path'
import { type Run, withTextChecksum, writeReportFile } from '../../store/index.ts'
import { type Comparison, readComparison } from './comparison.ts'
import { drawReport } from './page.ts'

export interface ReportOptions {
  /** Defaults to the last comparison in the run, if any. */
  comparison?: Comparison
}

/**
 * Writes a run's results as one self-contained page, report.html in its folder, and returns the path. A run opened for reading
 * is enough.
 *
 * @example
 * import { openRun, writeReport } from 'chain-of-agents'
 *
 * using run = openRun('runs/my-run')
 * console.log(`open ${writeReport(run)} in a browser`)
 */
export function writeReport(run: Run, { comparison }: ReportOptions = {}): string {
  const path = join(run.dir, 'report.html')
  const page = drawReport(run, comparison ?? readComparison(run))
  writeReportFile(path, withTextChecksum(page, 'html'))
  return path
}
