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
import { cutTornTail, findTornTail, type TornTail } from './torn-tail.ts'

export interface OpenRunOptions {
  /** Take the lock and repair torn files; without it nothing but the index is ever changed. */
  write?: boolean
  /** What the lock says about its owner. */
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
    throw new StoreError(`run folder ${dir} has lost its records: there is no events.jsonl`, {
      fix: 'Restore events.jsonl from a copy, or create an empty file to go on without records.',
    })
  }
  if (options.write !== true) return new Run({ files, writer: undefined, torn: tornTails(files) })

  const lock = acquireLock(files.lock, options.command ?? 'coa')
  let writer: RunWriter | undefined
  try {
    removeOldClaims(files.lock)
    removeLeftovers(files.dir)
    const torn = tornTails(files).map((tail) => cutTornTail(tail.path, tail))
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
