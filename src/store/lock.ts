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
  /** Unique to one holding of the lock. */
  token: z.string().min(1),
  /** See processStart: tells a reused process number from the owner. */
  processStart: z.string().optional(),
})
export type LockOwner = z.infer<typeof LockOwner>

/** How often the holder touches its lock, and after how long without that an owner elsewhere counts as dead. */
const TOUCH_MS = 15_000
const SILENT_MS = 5 * 60_000

export interface Lock {
  owner: LockOwner
  /** The dead owner whose lock was taken over. */
  takenOver: LockOwner | undefined
  release(): void
}

/**
 * Takes the lock at `path` or throws, naming the owner. The file appears complete or not at all, because it is
 * written under another name and linked.
 *
 * Taking over from a dead owner is safe against other takers: whoever wants to replace the lock with token T must
 * hold the claim on T, which is a lock of the same kind (and can in turn be taken over from a killed claimant).
 * Only the claimant of T replaces it, after looking again that it is still T's.
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
    if (makeLock(path, owner)) return held(undefined)
    const current = readLock(path)
    if (current === undefined) continue
    if (ownerRuns(current, path)) throw lockedError(path, current)
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
 * For the holder of the lock: claims on earlier tokens, left by killed claimants, decide nothing any more. Their
 * temporary files may be of a taker that is just about to find that out.
 */
export function removeOldClaims(path: string): void {
  for (const name of readdirSync(dirname(path))) {
    const isClaim = name.startsWith(`${basename(path)}.claim-`) && !name.endsWith('.tmp')
    if (isClaim) rmSync(join(dirname(path), name), { force: true })
  }
}

/** The owner written in the lock file, or undefined when there is no lock. */
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
    throw new StoreError(`the lock file ${path} does not name its owner`, {
      fix: `Delete ${path} if no coa process is writing to this run.`,
      cause,
    })
  }
}

/**
 * A process on another machine or in another container cannot be looked at from here: it counts as running as long as it
 * touches its lock. So the lock of a container that was replaced expires by itself.
 */
export function ownerRuns(owner: LockOwner, path: string): boolean {
  if (owner.host === hostname()) return processRuns(owner.pid, owner.processStart)
  const silent = silentFor(path)
  return silent !== undefined && silent < SILENT_MS
}

/** Milliseconds since the lock was last touched; undefined when it is gone. */
function silentFor(path: string): number | undefined {
  const touched = statSync(path, { throwIfNoEntry: false })?.mtimeMs
  return touched === undefined ? undefined : Math.max(0, Date.now() - touched)
}

function touch(path: string, token: string): void {
  try {
    if (readLock(path)?.token === token) utimesSync(path, new Date(), new Date())
  } catch {
    // Nobody misses one touch; a damaged lock is reported by the next writer.
  }
}

/** Who holds a lock, for people. */
export function describeOwner({ pid, host, command, startedAt }: LockOwner): string {
  return `process ${pid}${host === hostname() ? '' : ` on ${host}`} (${command}) since ${startedAt}`
}

/** Fails when there is a lock already. */
const makeLock = (path: string, owner: LockOwner): boolean =>
  writing(path, () => createFileAtomic(path, lockText(owner)))

const replaceLock = (path: string, owner: LockOwner): void =>
  writing(path, () => writeFileAtomic(path, lockText(owner)))

const lockText = (owner: LockOwner): string => `${JSON.stringify(owner)}\n`

function writing<T>(path: string, write: () => T): T {
  try {
    return write()
  } catch (cause) {
    throw new StoreError(`cannot create the lock file ${path}`, {
      fix: 'Make sure that the run folder exists and can be written to.',
      cause,
    })
  }
}

function releaseLock(path: string, token: string): void {
  try {
    if (readLock(path)?.token === token) rmSync(path, { force: true })
  } catch {
    // A lock file that was damaged meanwhile is not ours to judge: the next writer reports it.
  }
}

function optionalStart(start: string | undefined): { processStart?: string } {
  return start === undefined ? {} : { processStart: start }
}

function lockedError(path: string, owner: LockOwner): StoreError {
  const seconds = Math.round((silentFor(path) ?? 0) / 1000)
  const fix =
    owner.host === hostname()
      ? `Wait until it ends or stop it with \`kill ${owner.pid}\`; reading the run is possible meanwhile.`
      : `Its last sign of life was ${seconds} s ago; after ${SILENT_MS / 60_000} minutes without one it counts as dead. If ${owner.host} is gone for good, delete ${path}.`
  return new StoreError(`the run is being written by ${describeOwner(owner)}`, {
    fix,
    details: { path, owner },
  })
}
