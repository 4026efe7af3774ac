import { renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { StoreError } from '../base/errors/index.ts'
import type { RecordKind } from '../schema/index.ts'
import { syncFile, syncFolder } from './atomic-write.ts'
import { type OnExportProgress, writeParquet } from './parquet-write.ts'
import type { Run } from './run.ts'
import { temporaryPath } from './temporary-path.ts'

export interface ExportOptions {
  onProgress?: OnExportProgress
}

/** Writes every record of a kind to a Parquet file, complete or not at all, and returns how many. */
export function exportParquet(run: Run, kind: RecordKind, file: string, options: ExportOptions = {}): number {
  const temporary = temporaryPath(file)
  try {
    const records = writeParquet(temporary, kind, () => run.scan(kind), options.onProgress)
    syncFile(temporary)
    renameSync(temporary, file)
    syncFolder(dirname(file))
    return records
  } catch (cause) {
    rmSync(temporary, { force: true })
    if (cause instanceof StoreError) throw cause
    throw new StoreError(`cannot write ${file}: ${(cause as Error).message}`, {
      fix: 'Check that the folder exists and can be written to, and that the disk has space.',
      cause,
    })
  }
}
