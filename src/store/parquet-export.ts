import { StoreError } from '../base/errors/index.ts'
import { replaceFile } from '../base/files/index.ts'
import type { RecordKind } from '../schema/index.ts'
import { type OnExportProgress, writeParquet } from './parquet-write.ts'
import type { Run } from './run.ts'

export interface ExportOptions {
  onProgress?: OnExportProgress
}

/**
 * Writes every record of one kind to a Parquet file, complete or not at all, and returns how many it wrote.
 *
 * @example
 * import { exportParquet, openRun } from 'chain-of-agents'
 *
 * using run = openRun('runs/my-run')
 * const count = exportParquet(run, 'sequence', 'sequences.parquet')
 * console.log(`${count} sequences`)
 */
export function exportParquet(run: Run, kind: RecordKind, file: string, options: ExportOptions = {}): number {
  try {
    return replaceFile(file, (temporary) =>
      writeParquet(temporary, kind, () => run.scan(kind), options.onProgress),
    )
  } catch (cause) {
    if (cause instanceof StoreError) throw cause
    throw new StoreError(`cannot write ${file}: ${(cause as Error).message}`, {
      fix: 'Check that the folder exists and is writable, and that the disk has free space.',
      cause,
    })
  }
}
