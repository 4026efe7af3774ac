import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { processExists } from '../processes/index.ts'

/**
 * A temporary name next to `path` that identifies its creator, so that leftovers of killed processes can be
 * recognized. The leading dot keeps it out of listings.
 */
export function temporaryPath(path: string): string {
  const maker = `${hostname()}-${process.pid}-${randomBytes(6).toString('hex')}`
  return join(dirname(path), `.${basename(path)}.${maker}.tmp`)
}

/** Never throws: the error that led to the cleanup matters more than a failed cleanup. */
export function removeTemporary(path: string): void {
  try {
    rmSync(path, { force: true, recursive: true })
  } catch {}
}

/**
 * Removes temporary files and folders whose creator, a process on this machine, no longer exists; `of` limits it to
 * one name.
 */
export function removeLeftovers(dir: string, of?: string): void {
  for (const name of readdirSync(dir)) {
    const maker = /\.([^/]+)-(\d+)-[0-9a-f]{12}\.tmp$/.exec(name)
    if (!maker?.[1]?.endsWith(hostname()) || (of !== undefined && !name.startsWith(`.${of}.`))) continue
    if (!processExists(Number(maker[2]))) rmSync(join(dir, name), { force: true, recursive: true })
  }
}
