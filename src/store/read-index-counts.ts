import { COUNT_BY_KIND, INDEX_VERSION } from './index-database.ts'
import { inodeOf } from './index-file.ts'
import { DatabaseSync } from './sqlite.ts'

/** Reads the counts from an index file if it covers a log of this length, without changing or creating anything. */
export function readIndexCounts(path: string, logBytes: number): Record<string, number> | undefined {
  try {
    if (inodeOf(path) === undefined) return undefined
    const database = new DatabaseSync(path, { readOnly: true })
    try {
      const version = database.prepare('PRAGMA user_version').get()?.['user_version']
      const bytes = database.prepare('SELECT bytes FROM progress').get()?.['bytes']
      if (version !== INDEX_VERSION || bytes !== logBytes) return undefined
      const rows = database.prepare(COUNT_BY_KIND).all()
      return Object.fromEntries(rows.map((row) => [row['kind'] as string, row['records'] as number]))
    } finally {
      database.close()
    }
  } catch {
    return undefined
  }
}
