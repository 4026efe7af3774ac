import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { temporaryPath } from './temporary-path.ts'

/** Replaces a file so that a reader, or the next start after a kill, sees the old or the new text, never a part. */
export function writeFileAtomic(path: string, text: string): void {
  const temporary = temporaryPath(path)
  try {
    writeFileSync(temporary, text, { flush: true })
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  syncFolder(dirname(path))
}

/** Makes a finished file durable before it is renamed into place. */
export function syncFile(path: string): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** A rename is durable only when its folder is. Some file systems cannot sync a folder; then nothing is lost by it. */
export function syncFolder(path: string): void {
  try {
    syncFile(path)
  } catch {}
}
