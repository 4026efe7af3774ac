import { mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from './sqlite.ts'

/**
 * Opens an index in a SQLite file that other processes can read while one writes. Creates the folder and tables
 * unless read-only, and rejects other versions.
 */
export function openIndex(
  file: string,
  { tables, version, readOnly }: { tables: string; version: number; readOnly: boolean },
): DatabaseSync {
  if (!readOnly) mkdirSync(dirname(resolve(file)), { recursive: true })
  const database = new DatabaseSync(file, { readOnly, timeout: 5000 })
  const { user_version: found } = database.prepare('PRAGMA user_version').get() as { user_version: number }
  if (found !== 0 && found !== version)
    throw new Error(`it has version ${found}, but this version of coa reads ${version}`)
  if (!readOnly) {
    database.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; ${tables} PRAGMA user_version = ${version};`,
    )
  }
  return database
}
