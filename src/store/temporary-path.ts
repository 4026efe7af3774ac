import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { processExists } from './process-identity.ts'

const pattern = /\.([^/]+)-(\d+)-[0-9a-f]{12}\.tmp$/

/** A name beside `path` that tells who made it, so that leftovers of killed processes can be recognised. */
export function temporaryPath(path: string): string {
  return join(
    dirname(path),
    `${basename(path)}.${hostname()}-${process.pid}-${randomBytes(6).toString('hex')}.tmp`,
  )
}

/** Removes temporary files and folders whose maker, a process of this machine, is gone. */
export function removeLeftovers(dir: string): void {
  for (const name of readdirSync(dir)) {
    const match = pattern.exec(name)
    if (!match?.[1]?.endsWith(hostname())) continue
    if (!processExists(Number(match[2]))) rmSync(join(dir, name), { force: true, recursive: true })
  }
}
