import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { processExists } from '../processes/index.ts'

/**
 * A name beside `path` that tells who made it, so that leftovers of killed processes can be recognised. The leading dot
 * keeps it out of listings.
 */
export function temporaryPath(path: string): string {
  const maker = `${hostname()}-${process.pid}-${randomBytes(6).toString('hex')}`
  return join(dirname(path), `.${basename(path)}.${maker}.tmp`)
}

/** Never fails: the reason why it is removed is worth more than that it could not be. */
export function removeTemporary(path: string): void {
  try {
    rmSync(path, { force: true, recursive: true })
  } catch {}
}

/** Removes temporary files and folders whose maker, a process of this machine, is gone; `of` limits it to one name. */
export function removeLeftovers(dir: string, of?: string): void {
  for (const name of readdirSync(dir)) {
    const maker = /\.([^/]+)-(\d+)-[0-9a-f]{12}\.tmp$/.exec(name)
    if (!maker?.[1]?.endsWith(hostname()) || (of !== undefined && !name.startsWith(`.${of}.`))) continue
    if (!processExists(Number(maker[2]))) rmSync(join(dir, name), { force: true, recursive: true })
  }
}
