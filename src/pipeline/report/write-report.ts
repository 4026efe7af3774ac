import { join } from 'node:path'
import { StoreError } from '../../base/errors/index.ts'
import { writeFileAtomic } from '../../base/files/index.ts'
import { type Run, withTextChecksum } from '../../store/index.ts'
import { type Comparison, readComparison } from './comparison.ts'
import { drawReport } from './page.ts'

export interface ReportOptions {
  /** Solvers side by side; without it, the last comparison that was made in the run, if any. */
  comparison?: Comparison
}

/** Writes what came of a run as one page, report.html in its folder, and says where it is. A run open for reading will do. */
export function writeReport(run: Run, { comparison }: ReportOptions = {}): string {
  const path = join(run.dir, 'report.html')
  const page = drawReport(run, comparison ?? readComparison(run))
  try {
    writeFileAtomic(path, withTextChecksum(page, 'html'))
  } catch (cause) {
    throw new StoreError(`cannot write the report ${path}: ${(cause as Error).message}`, {
      fix: 'Check the free space and the rights of the run folder.',
      cause,
    })
  }
  return path
}
