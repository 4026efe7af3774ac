import { StoreError } from '../base/errors/index.ts'
import { writeFileAtomic } from '../base/files/index.ts'

/** Writes a report, or replaces it atomically. */
export function writeReportFile(path: string, text: string): void {
  try {
    writeFileAtomic(path, text)
  } catch (cause) {
    throw new StoreError(`cannot write the report ${path}: ${(cause as Error).message}`, {
      fix: 'Check the free space and the permissions of the run folder.',
      cause,
    })
  }
}
