import { closeSync, openSync } from 'node:fs'
import { resolve } from 'node:path'
import { StoreError } from '../base/errors/index.ts'
import { type OnIndexProgress, rebuildIndex } from './index-build.ts'
import { RecordIndex } from './record-index.ts'
import { runFiles } from './run-files.ts'

export interface ReindexResult {
  /** Lines of the log, including damaged ones. */
  lines: number
  damagedLines: number
  /** Number of records by kind; a record appended twice counts once. */
  counts: Record<string, number>
}

/** Rebuilds index.sqlite from events.jsonl. Safe while others read and write the run. */
export function reindex(dir: string, options: { onProgress?: OnIndexProgress } = {}): ReindexResult {
  const files = runFiles(resolve(dir))
  try {
    rebuildIndex(files.index, files.events, options.onProgress)
  } catch (cause) {
    throw new StoreError(`cannot rebuild ${files.index}: ${(cause as Error).message}`, {
      fix: 'Check that the folder is a run and is writable, and that the disk has free space.',
      cause,
    })
  }
  const logFd = openSync(files.events, 'r')
  try {
    const index = new RecordIndex(files.index, files.events, logFd)
    try {
      const { lines, damagedLines } = index.progress()
      return { lines, damagedLines, counts: Object.fromEntries(index.counts()) }
    } finally {
      index.close()
    }
  } finally {
    closeSync(logFd)
  }
}
