import { type Dirent, readdirSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { CoaError, StoreError } from '../base/errors/index.ts'
import type { RunManifest } from '../schema/index.ts'
import { isOwnerAlive, type LockOwner, readLock } from './lock.ts'
import { readManifest } from './manifest-file.ts'
import { readIndexCounts } from './read-index-counts.ts'
import { type RunFiles, runFiles } from './run-files.ts'

export interface RunSummary {
  /** The name of the folder. */
  id: string
  dir: string
  /** Total size of all files in the folder. */
  bytes: number
  createdAt?: string
  command?: string
  coa?: string
  stages?: RunManifest['stages']
  /** Number of records by kind; absent if the index does not cover the log, since counting would mean reading it. */
  counts?: Record<string, number>
  /** The running process that is writing to the run. */
  lockedBy?: LockOwner
  /** Why the run cannot be opened. */
  problem?: string
}

/**
 * Lists all run folders, newest first. A damaged run is listed along with its problem.
 *
 * @example
 * import { listRuns } from 'chain-of-agents'
 *
 * for (const { id, command, counts } of listRuns('runs')) console.log(id, command, counts)
 */
export function listRuns(runsDir: string): RunSummary[] {
  let entries: Dirent[]
  try {
    entries = readdirSync(resolve(runsDir), { withFileTypes: true })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw new StoreError(`cannot read the runs in ${runsDir}: ${(cause as Error).message}`, {
      fix: 'Set project.runs to a folder.',
      cause,
    })
  }
  return entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map((entry) => summarize(entry.name, runFiles(join(resolve(runsDir), entry.name))))
    .sort((a, b) => compare(b.createdAt ?? '', a.createdAt ?? '') || compare(b.id, a.id))
}

/** One run folder, as `listRuns` lists it. */
export function summarizeRun(dir: string): RunSummary {
  return summarize(basename(resolve(dir)), runFiles(resolve(dir)))
}

function summarize(id: string, files: RunFiles): RunSummary {
  const summary: RunSummary = { id, dir: files.dir, bytes: folderBytes(files.dir) }
  try {
    const { createdAt, command, coa, stages } = readManifest(files.manifest)
    Object.assign(summary, { createdAt, command, coa, stages })
    const logBytes = statSync(files.events, { throwIfNoEntry: false })?.size
    if (logBytes === undefined) return { ...summary, problem: 'events.jsonl is missing' }
    const counts = logBytes === 0 ? {} : readIndexCounts(files.index, logBytes)
    if (counts !== undefined) summary.counts = counts
    const owner = readLock(files.lock)
    if (owner !== undefined && isOwnerAlive(owner, files.lock)) summary.lockedBy = owner
  } catch (error) {
    summary.problem = CoaError.isInstance(error) ? error.message : String(error)
  }
  return summary
}

function folderBytes(dir: string): number {
  try {
    return readdirSync(dir, { withFileTypes: true })
      .map((entry) => {
        const path = join(dir, entry.name)
        if (entry.isDirectory()) return folderBytes(path)
        return statSync(path, { throwIfNoEntry: false })?.size ?? 0
      })
      .reduce((sum, bytes) => sum + bytes, 0)
  } catch {
    return 0
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
