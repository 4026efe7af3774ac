import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'

/** Writes all of `bytes`: one call may write less, and never more than 2 GiB. */
export function writeFully(file: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(file, bytes, done, Math.min(bytes.length - done, 2 ** 30))
  }
}

/** Writes a file so that whoever looks sees the old one or the whole new one, even after a power cut. */
export function writeDurably(path: string, write: (file: number) => void): void {
  const temporary = temporaryName(path)
  try {
    const file = openSync(temporary, 'wx')
    try {
      write(file)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  syncFolder(dirname(path))
}

/** A rename is durable only when its folder is. Some file systems cannot sync a folder; then nothing is lost by it. */
export function syncFolder(path: string): void {
  try {
    const folder = openSync(path, 'r')
    try {
      fsyncSync(folder)
    } finally {
      closeSync(folder)
    }
  } catch {}
}

/** One level at a time, because mkdir with `recursive` never returns where the system denies that the parent exists. */
export function makeFolder(path: string): void {
  if (existsSync(path)) return
  if (dirname(path) !== path) makeFolder(dirname(path))
  try {
    mkdirSync(path)
  } catch (error) {
    // Another process may have been faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** A name beside `path` that tells who made it, so that what killed processes left can be recognised. */
export function temporaryName(path: string): string {
  const maker = `${hostname()}-${process.pid}-${randomBytes(6).toString('hex')}`
  return join(dirname(path), `.${basename(path)}.${maker}.tmp`)
}

/** Removes temporary files and folders for `path` whose maker, a process of this machine, is gone. */
export function removeLeftovers(path: string): void {
  const prefix = `.${basename(path)}.${hostname()}-`
  for (const name of readdirSync(dirname(path))) {
    if (!name.startsWith(prefix)) continue
    const maker = /^(\d+)-[0-9a-f]{12}\.tmp$/.exec(name.slice(prefix.length))
    if (maker !== null && !isAlive(Number(maker[1]))) {
      rmSync(join(dirname(path), name), { recursive: true, force: true })
    }
  }
}

function isAlive(id: number): boolean {
  try {
    process.kill(id, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
