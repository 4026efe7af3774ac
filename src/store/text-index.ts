import { createHash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { StoreError } from '../base/errors/index.ts'
import { openIndex } from './open-index.ts'
import { Ranking } from './text/ranking.ts'
import { Segments } from './text/segments.ts'
import { queryWords } from './text/words.ts'

/** A searchable text. */
export interface TextDocument {
  id: string
  title: string
  text: string
  /** Where the full text can be read. */
  url?: string
}

export interface TextHit extends TextDocument {
  /** Higher is better. Only comparable within one query. */
  score: number
}

export interface AddResult {
  added: number
  replaced: number
  /** Already present with the same text. */
  unchanged: number
}

const VERSION = 2

const tables = `
  CREATE TABLE IF NOT EXISTS document (
    row INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, hash BLOB NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL, url TEXT);
  CREATE INDEX IF NOT EXISTS document_url ON document (url) WHERE url IS NOT NULL;
  ${Segments.schema}
`

/**
 * A full-text index in one SQLite file: BM25 over our own posting lists (docs/decisions/0006). Adding the same
 * documents again costs only reading them. Other processes can search while one adds.
 */
export class TextIndex {
  readonly #database: DatabaseSync
  readonly #segments: Segments
  readonly #read: ReturnType<DatabaseSync['prepare']>
  readonly #dataVersion: ReturnType<DatabaseSync['prepare']>
  #ranking: Ranking | undefined
  #rankedVersion = -1

  constructor(file: string, options: { readOnly?: boolean } = {}) {
    try {
      this.#database = openIndex(file, { tables, version: VERSION, readOnly: options.readOnly ?? false })
      this.#segments = new Segments(this.#database)
      this.#read = this.#database.prepare('SELECT id, title, text, url FROM document WHERE row = ?')
      this.#dataVersion = this.#database.prepare('PRAGMA data_version')
    } catch (cause) {
      throw new StoreError(`cannot open the text index ${file}: ${(cause as Error).message}`, {
        fix: 'Build it with `coa corpus build FILE…`.',
        cause,
      })
    }
  }

  /** Adds documents in one transaction: all or none. A document with a known id and a different text is replaced. */
  add(documents: Iterable<TextDocument>): AddResult {
    const result: AddResult = { added: 0, replaced: 0, unchanged: 0 }
    this.#change((find, forget) => {
      const insert = this.#database.prepare(
        'INSERT INTO document (row, id, hash, title, text, url) VALUES (?, ?, ?, ?, ?, ?)',
      )
      const segment = this.#segments.begin()
      for (const { id, title, text, url } of documents) {
        const hash = createHash('sha256')
          .update(JSON.stringify([title, text, url ?? null]))
          .digest()
        const known = find(id)
        if (known !== undefined && hash.equals(known.hash)) {
          result.unchanged++
          continue
        }
        if (known !== undefined) forget(known.row)
        insert.run(segment.add(title, text), id, hash, title, text, url ?? null)
        result[known === undefined ? 'added' : 'replaced']++
      }
      segment.finish()
    })
    return result
  }

  /** Removes documents in one transaction. Returns the number removed. */
  remove(ids: Iterable<string>): number {
    let removed = 0
    this.#change((find, forget) => {
      for (const id of ids) {
        const known = find(id)
        if (known === undefined) continue
        forget(known.row)
        removed++
      }
    })
    return removed
  }

  #change(
    work: (
      find: (id: string) => { row: number; hash: Uint8Array } | undefined,
      forget: (row: number) => void,
    ) => void,
  ): void {
    const find = this.#database.prepare('SELECT row, hash FROM document WHERE id = ?')
    const remove = this.#database.prepare('DELETE FROM document WHERE row = ?')
    const gone: number[] = []
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      work(
        (id) => find.get(id) as { row: number; hash: Uint8Array } | undefined,
        (row) => {
          remove.run(row)
          gone.push(row)
        },
      )
      this.#segments.forget(gone)
      this.#segments.mergeSmall()
      this.#database.exec('COMMIT')
    } catch (error) {
      this.#database.exec('ROLLBACK')
      throw error
    } finally {
      this.#ranking = undefined
    }
  }

  /** The best matches, best first. A query without words finds nothing. */
  search(query: string, limit: number): TextHit[] {
    const words = queryWords(query)
    if (words.length === 0) return []
    // One transaction, so that lengths, postings and texts are consistent even if another process adds documents.
    this.#database.exec('BEGIN')
    try {
      const ranking = this.#currentRanking()
      for (const word of words) {
        const { rows, lists } = this.#segments.postings(word)
        if (rows > 0) ranking.add(lists, rows, this.#segments.unit)
      }
      return ranking.take(limit).map(({ row, score }) => ({ ...toDocument(this.#read.get(row)), score }))
    } finally {
      this.#database.exec('COMMIT')
    }
  }

  /** Rebuilt after this or another process has changed the file. */
  #currentRanking(): Ranking {
    const { data_version: version } = this.#dataVersion.get() as { data_version: number }
    if (this.#ranking === undefined || version !== this.#rankedVersion) {
      this.#ranking = new Ranking(this.#segments.lengths())
      this.#rankedVersion = version
    }
    return this.#ranking
  }

  get(id: string): TextDocument | undefined {
    const row = this.#database.prepare('SELECT id, title, text, url FROM document WHERE id = ?').get(id)
    return row === undefined ? undefined : toDocument(row)
  }

  /** The document with this URL; the first if there are several. */
  getByUrl(url: string): TextDocument | undefined {
    const found = this.#database.prepare(
      'SELECT id, title, text, url FROM document WHERE url = ? AND url IS NOT NULL ORDER BY row LIMIT 1',
    )
    const row = found.get(url)
    return row === undefined ? undefined : toDocument(row)
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

function toDocument(row: unknown): TextDocument {
  const { id, title, text, url } = row as TextDocument & { url: string | null }
  return { id, title, text, ...(url === null ? {} : { url }) }
}
