import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { StoreError } from '../base/errors/index.ts'
import { createFileAtomic, writeFileAtomic } from '../base/files/index.ts'
import { processRuns, processStart } from '../base/processes/index.ts'

const LockOwner = z.object({
  pid: z.number().int(),
  host: z.string(),
  command: z.string(),
  startedAt: z.string(),
  /** Unique to one acquisition of the lock. */
  token: z.string().min(1),
  /** See processStart: distinguishes the owner from a later process with the same id. */
  processStart: z.string().optional(),
})
export type LockOwner = z.infer<typeof LockOwner>

/** How often the holder touches its lock, and how long without that an owner on another host counts as alive. */
const TOUCH_MS = 15_000
const STALE_MS = 5 * 60_000

export interface Lock {
  owner: LockOwner
  /** The dead owner from whom the lock was taken over. */
  takenOver: LockOwner | undefined
  release(): void
}

/**
 * Acquires the lock at `path`, or throws an error that names the owner. The file appears completely or not at all,
 * because it is written under another name and linked.
 *
 * Taking over from a dead owner is safe against competitors: whoever wants to replace the lock with token T must hold
 * the claim on T, which is a lock of the same kind (and can itself be taken over from a killed claimant). Only the
 * claimant of T replaces it, after checking again that it is still T's.
 */
export function acquireLock(path: string, command: string): Lock {
  const owner: LockOwner = {
    pid: process.pid,
    host: hostname(),
    command,
    startedAt: new Date().toISOString(),
    token: randomUUID(),
    ...optionalStart(processStart(process.pid)),
  }
  const held = (takenOver: LockOwner | undefined): Lock => {
    const touching = setInterval(touch, TOUCH_MS, path, owner.token).unref()
    const release = () => {
      clearInterval(touching)
      releaseLock(path, owner.token)
    }
    return { owner, takenOver, release }
  }
  for (;;) {
    if (createLock(path, owner)) return held(undefined)
    const current = readLock(path)
    if (current === undefined) continue
    if (isOwnerAlive(current, path)) throw lockedError(path, current)
    const claim = acquireLock(`${path}.claim-${current.token}`, command)
    try {
      if (readLock(path)?.token !== current.token) continue
      replaceLock(path, owner)
      return held(current)
    } finally {
      claim.release()
    }
  }
}

/**
 * For the lock holder: removes claims on earlier tokens left by killed claimants, which no longer matter. Their
 * temporary files may belong to a competitor that is about to notice this.
 */
export function removeOldClaims(path: string): void {
  for (const name of readdirSync(dirname(path))) {
    const isClaim = name.startsWith(`${basename(path)}.claim-`) && !name.endsWith('.tmp')
    if (isClaim) rmSync(join(dirname(path), name), { force: true })
  }
}

/** The owner recorded in the lock file, or undefined if there is no lock. */
export function readLock(path: string): LockOwner | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    return LockOwner.parse(JSON.parse(text))
  } catch (cause) {
    throw new StoreError(`the lock file ${path} is damaged`, {
      fix: `Delete ${path} if no coa process is writing to this run.`,
      cause,
    })
  }
}

/**
 * A process on another machine or in another container cannot be inspected from here: it counts as alive as long as
 * it touches its lock. So the lock of a replaced container expires on its own.
 */
export function isOwnerAlive(owner: LockOwner, path: string): boolean {
  if (owner.host === hostname()) return processRuns(owner.pid, owner.processStart)
  const age = lockAgeMs(path)
  return age !== undefined && age < STALE_MS
}

/** Milliseconds since the lock was last touched; undefined if it no longer exists. */
function lockAgeMs(path: string): number | undefined {
  const touched = statSync(path, { throwIfNoEntry: false })?.mtimeMs
  return touched === undefined ? undefined : Math.max(0, Date.now() - touched)
}

function touch(path: string, token: string): void {
  try {
    if (readLock(path)?.token === token) utimesSync(path, new Date(), new Date())
  } catch {
    // Missing one touch is harmless; a damaged lock is reported by the next writer.
  }
}

/** Describes the owner of a lock for display. */
export function describeOwner({ pid, host, command, startedAt }: LockOwner): string {
  return `process ${pid}${host === hostname() ? '' : ` on ${host}`} (${command}) since ${startedAt}`
}

/** Returns false if the lock already exists. */
const createLock = (path: string, owner: LockOwner): boolean =>
  wrapErrors(path, () => createFileAtomic(path, lockText(owner)))

const replaceLock = (path: string, owner: LockOwner): void =>
  wrapErrors(path, () => writeFileAtomic(path, lockText(owner)))

const lockText = (owner: LockOwner): string => `${JSON.stringify(owner)}\n`

function wrapErrors<T>(path: string, write: () => T): T {
  try {
    return write()
  } catch (cause) {
    throw new StoreError(`cannot create the lock file ${path}`, {
      fix: 'Check that the run folder exists and is writable.',
      cause,
    })
  }
}

function releaseLock(path: string, token: string): void {
  try {
    if (readLock(path)?.token === token) rmSync(path, { force: true })
  } catch {
    // A lock file that was damaged meanwhile is left for the next writer to report.
  }
}

function optionalStart(start: string | undefined): { processStart?: string } {
  return start === undefined ? {} : { processStart: start }
}

function lockedError(path: string, owner: LockOwner): StoreError {
  const seconds = Math.round((lockAgeMs(path) ?? 0) / 1000)
  const fix =
    owner.host === hostname()
      ? `Wait until it ends, or stop it with \`kill ${owner.pid}\`. The run can still be read.`
      : `It was last active ${seconds} s ago and counts as dead after ${STALE_MS / 60_000} minutes of inactivity. If ${owner.host} no longer exists, delete ${path}.`
  return new StoreError(`the run is locked by ${describeOwner(owner)}`, {
    fix,
    details: { path, owner },
  })
}
