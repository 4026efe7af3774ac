import { closeSync, openSync, statSync } from 'node:fs'
import { DatabaseSync } from './sqlite.ts'

const BUSY_TIMEOUT_MS = 10_000

/** Opens the file and determines its inode, even if another process renames a new file into place at the same time. */
export function openIndexFile(path: string): { database: DatabaseSync; inode: bigint | undefined } {
  for (;;) {
    // Created first, so that there is an inode to compare.
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

/**
 * Locks other processes out of an index file; a file that is not a database needs no lock. Returns the release
 * function.
 */
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
