import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** The content of an index file, in an order that does not depend on how it was built. */
export function dumpIndex(dir: string): Record<string, unknown[]> {
  const database = new DatabaseSync(join(dir, 'index.sqlite'))
  try {
    const all = (sql: string) =>
      database
        .prepare(sql)
        .all()
        .map((row) => Object.values(row).join(' '))
    return {
      record: all('SELECT * FROM record ORDER BY offset'),
      lookup: all('SELECT * FROM lookup ORDER BY high, low'),
      tally: all('SELECT * FROM tally ORDER BY kind, stretch'),
      damage: all('SELECT * FROM damage ORDER BY offset'),
      progress: all('SELECT * FROM progress'),
      integrity: all('PRAGMA integrity_check'),
    }
  } finally {
    database.close()
  }
}
