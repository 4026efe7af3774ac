import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StoreError } from '../errors/index.ts'
import { matchExpression } from './match-expression.ts'

/** A text that can be found. */
export interface TextDocument {
  id: string
  title: string
  text: string
  /** Where it can be read in full. */
  url?: string
}

export interface TextHit extends TextDocument {
  /** Higher is better. Comparable within one answer only. */
  score: number
}

export interface AddResult {
  added: number
  replaced: number
  /** Already there, word for word. */
  unchanged: number
}

const VERSION = 1

/** A title says more about a document than any line of it. */
const TITLE_WEIGHT = 2.5

const schema = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS document (row INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, hash TEXT NOT NULL, url TEXT);
  CREATE VIRTUAL TABLE IF NOT EXISTS passage USING fts5(title, text, tokenize = 'porter unicode61 remove_diacritics 2');
  PRAGMA user_version = ${VERSION};
`

/** A full-text index in one SQLite file (FTS5, BM25). Adding the same documents again costs only reading them. */
export class TextIndex {
  readonly #database: DatabaseSync
  readonly #search: ReturnType<DatabaseSync['prepare']>

  constructor(file: string, options: { readOnly?: boolean } = {}) {
    try {
      if (options.readOnly !== true) mkdirSync(dirname(resolve(file)), { recursive: true })
      this.#database = new DatabaseSync(file, { readOnly: options.readOnly ?? false, timeout: 5000 })
      const { user_version: version } = this.#database.prepare('PRAGMA user_version').get() as {
        user_version: number
      }
      if (version !== 0 && version !== VERSION)
        throw new Error(`it has version ${version}, this coa reads ${VERSION}`)
      if (options.readOnly !== true) this.#database.exec(schema)
      this.#search = this.#database.prepare(
        // Ranked by row number first, so that texts are read for the best few only.
        `SELECT document.id, passage.title, passage.text, document.url, -best.score AS score
         FROM (SELECT rowid AS row, rank AS score FROM passage
               WHERE passage MATCH ? AND rank MATCH 'bm25(${TITLE_WEIGHT}, 1.0)' ORDER BY rank LIMIT ?) AS best
         JOIN passage ON passage.rowid = best.row JOIN document ON document.row = best.row ORDER BY best.score`,
      )
    } catch (cause) {
      throw new StoreError(`cannot open the text index ${file}: ${(cause as Error).message}`, {
        fix: 'Build it with `coa corpus build FILE…`.',
        cause,
      })
    }
  }

  /** Adds documents in one transaction: all or none. A known id with another text is replaced. */
  add(documents: Iterable<TextDocument>): AddResult {
    const result: AddResult = { added: 0, replaced: 0, unchanged: 0 }
    const find = this.#database.prepare('SELECT row, hash FROM document WHERE id = ?')
    const insert = this.#database.prepare('INSERT INTO document (id, hash, url) VALUES (?, ?, ?)')
    const update = this.#database.prepare('UPDATE document SET hash = ?, url = ? WHERE row = ?')
    const remove = this.#database.prepare('DELETE FROM passage WHERE rowid = ?')
    const insertText = this.#database.prepare('INSERT INTO passage (rowid, title, text) VALUES (?, ?, ?)')
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      for (const { id, title, text, url } of documents) {
        const hash = createHash('sha256')
          .update(JSON.stringify([title, text, url ?? null]))
          .digest('base64')
        const known = find.get(id) as { row: number; hash: string } | undefined
        if (known?.hash === hash) {
          result.unchanged++
          continue
        }
        if (known === undefined) {
          const { lastInsertRowid } = insert.run(id, hash, url ?? null)
          insertText.run(lastInsertRowid, title, text)
          result.added++
        } else {
          update.run(hash, url ?? null, known.row)
          remove.run(known.row)
          insertText.run(known.row, title, text)
          result.replaced++
        }
      }
      this.#database.exec('COMMIT')
    } catch (error) {
      this.#database.exec('ROLLBACK')
      throw error
    }
    return result
  }

  /** The documents that match best, best first. A query without a word finds nothing. */
  search(query: string, limit: number): TextHit[] {
    const expression = matchExpression(query)
    if (expression === null) return []
    const rows = this.#search.all(expression, limit) as unknown as (TextHit & { url: string | null })[]
    return rows.map(({ id, title, text, url, score }) => ({
      id,
      title,
      text,
      score,
      ...(url === null ? {} : { url }),
    }))
  }

  get(id: string): TextDocument | undefined {
    const row = this.#database
      .prepare('SELECT document.id, title, text, url FROM document JOIN passage ON passage.rowid = document.row WHERE document.id = ?')
      .get(id) as (TextDocument & { url: string | null }) | undefined
    if (row === undefined) return undefined
    return { id: row.id, title: row.title, text: row.text, ...(row.url === null ? {} : { url: row.url }) }
  }

  count(): number {
    return (this.#database.prepare('SELECT count(*) AS n FROM document').get() as { n: number }).n
  }

  close(): void {
    this.#database.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }
}
