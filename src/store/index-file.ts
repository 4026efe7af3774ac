import { closeSync, openSync, statSync } from 'node:fs'
import { DatabaseSync } from './sqlite.ts'

const BUSY_TIMEOUT_MS = 10_000

/** Opens the file and learns which one it is, even if another process renames a new one into place just now. */
export function openIndexFile(path: string): { database: DatabaseSync; inode: bigint | undefined } {
  for (;;) {
    // Made first, so that there is a file to compare with.
    if (path !== '') closeSync(openSync(path, 'a'))
    const before = inodeOf(path)
    const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS })
    const inode = inodeOf(path)
    if (inode === before) return { database, inode }
    database.close()
  }
}

export function inodeOf(path: string): bigint | undefined {
  if (path === '') return undefined
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino
}

/** Keeps other processes out of an index file; a file that is no database needs no keeping. Returns the release. */
export function lockIndexFile(path: string): () => void {
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS })
  try {
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    if (isBusy(error)) {
      database.close()
      throw error
    }
  }
  return () => database.close()
}

function isBusy(error: unknown): boolean {
  const SQLITE_BUSY = 5
  return (error as { errcode?: number }).errcode === SQLITE_BUSY
}
