import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { StoreError } from '../base/errors/index.ts'
import { removeLeftovers } from '../base/files/index.ts'
import { decodeEnvelope } from './envelope.ts'
import { acquireLock, removeOldClaims } from './lock.ts'
import { readManifest } from './manifest-file.ts'
import { isMetricLine } from './metrics-file.ts'
import { Run } from './run.ts'
import { type RunFiles, runFiles } from './run-files.ts'
import { type Durability, RunWriter } from './run-writer.ts'
import { findTornTail, type TornTail, truncateTornTail } from './torn-tail.ts'

export interface OpenRunOptions {
  /** Acquires the lock and repairs torn files; without it only the index is ever changed. */
  write?: boolean
  /** Recorded in the lock to identify its owner. */
  command?: string
  durability?: Durability
}

/**
 * Opens a run folder. Any number of processes may read it; only one may write.
 *
 * @example
 * import { openRun } from 'chain-of-agents'
 *
 * using run = openRun('runs/my-run')
 * console.log(run.kinds())
 * for (const { id, verdict } of run.scan('trajectory')) console.log(id, verdict?.outcome)
 */
export function openRun(dir: string, options: OpenRunOptions = {}): Run {
  const files = runFiles(resolve(dir))
  readManifest(files.manifest)
  if (!statSync(files.events, { throwIfNoEntry: false })?.isFile()) {
    throw new StoreError(`the run folder ${dir} has no events.jsonl: its records are lost`, {
      fix: 'Restore events.jsonl from a backup, or create an empty file to continue without records.',
    })
  }
  if (options.write !== true) return new Run({ files, writer: undefined, torn: tornTails(files) })

  const lock = acquireLock(files.lock, options.command ?? 'coa')
  let writer: RunWriter | undefined
  try {
    removeOldClaims(files.lock)
    removeLeftovers(files.dir)
    const torn = tornTails(files).map((tail) => truncateTornTail(tail.path, tail))
    writer = new RunWriter(files, lock, options.durability ?? 'process')
    return new Run({ files, writer, torn })
  } catch (error) {
    if (writer === undefined) lock.release()
    else writer.close()
    throw error
  }
}

function tornTails(files: RunFiles): TornTail[] {
  const events = findTornTail(files.events, (line) => decodeEnvelope(line).status !== 'garbage')
  const metrics = existsSync(files.metrics) ? findTornTail(files.metrics, isMetricLine) : undefined
  return [events, metrics].filter((tail) => tail !== undefined)
}
