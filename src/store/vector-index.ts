import { createHash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { StoreError } from '../base/errors/index.ts'
import { openIndex } from './open-index.ts'

export interface VectorHit {
  id: string
  /** Cosine similarity between query and document. */
  score: number
}

/** Vectors stored contiguously. */
interface Matrix {
  ids: string[]
  values: Float32Array
  width: number
  /** Version of the file when it was read. */
  version: number
}

const VERSION = 1

const tables = `
  CREATE TABLE IF NOT EXISTS vector (id TEXT PRIMARY KEY, hash TEXT NOT NULL, data BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS model (name TEXT NOT NULL);
`

/**
 * Document vectors in one SQLite file, all from the same model, with exact brute-force search: a few tens of
 * milliseconds for thirty thousand vectors. Vectors are normalized, so that a dot dotProduct is the cosine similarity.
 */
export class VectorIndex {
  readonly #database: DatabaseSync
  /** All vectors, loaded at the first search and reloaded after the file has changed. */
  #loaded: Matrix | undefined

  /** If opened for writing with a different model, it starts empty: vectors of two models are not comparable. */
  constructor(file: string, options: { model: string; readOnly?: boolean }) {
    const { model, readOnly = false } = options
    try {
      this.#database = openIndex(file, { tables, version: VERSION, readOnly })
      const known = this.#database.prepare('SELECT name FROM model').get() as { name: string } | undefined
      if (known?.name !== model) {
        if (readOnly)
          throw new Error(`its vectors were computed with ${known?.name ?? 'no model'}, not ${model}`)
        this.#inTransaction(() => {
          this.#database.exec('DELETE FROM vector; DELETE FROM model')
          this.#database.prepare('INSERT INTO model VALUES (?)').run(model)
        })
      }
    } catch (cause) {
      throw new StoreError(`cannot open the vector index ${file}: ${(cause as Error).message}`, {
        fix: 'Build it with `coa corpus build --embed FILE…`, with the same embedding model.',
        cause,
      })
    }
  }

  /** The documents without a vector for their current text. */
  missing<Document extends { id: string; text: string }>(documents: readonly Document[]): Document[] {
    const find = this.#database.prepare('SELECT hash FROM vector WHERE id = ?')
    return documents.filter(
      ({ id, text }) => (find.get(id) as { hash: string } | undefined)?.hash !== hashOf(text),
    )
  }

  /** Adds or replaces vectors: all or none. */
  add(entries: readonly { id: string; text: string; vector: Float32Array }[]): void {
    const width = this.#width() ?? entries[0]?.vector.length
    const odd = entries.find(({ vector }) => vector.length !== width)
    if (odd !== undefined) {
      throw new StoreError(
        `the vector of ${odd.id} has ${odd.vector.length} dimensions, the others have ${width}`,
        {
          fix: 'Embed the whole corpus with one model; delete the vector file to start over.',
        },
      )
    }
    const put = this.#database.prepare('INSERT OR REPLACE INTO vector VALUES (?, ?, ?)')
    this.#inTransaction(() => {
      for (const { id, text, vector } of entries) {
        const unit = normalize(vector)
        put.run(id, hashOf(text), new Uint8Array(unit.buffer, unit.byteOffset, unit.byteLength))
      }
    })
    this.#loaded = undefined
  }

  remove(ids: Iterable<string>): void {
    const remove = this.#database.prepare('DELETE FROM vector WHERE id = ?')
    this.#inTransaction(() => {
      for (const id of ids) remove.run(id)
    })
    this.#loaded = undefined
  }

  /** The nearest documents, nearest first. */
  search(query: Float32Array, limit: number): VectorHit[] {
    const { ids, values, width } = this.#load()
    if (ids.length === 0) return []
    if (query.length !== width) {
      throw new StoreError(`the query has ${query.length} dimensions, the corpus vectors have ${width}`, {
        fix: 'Search with the embedding model that the corpus was built with.',
      })
    }
    const unit = normalize(query)
    const scores = new Float32Array(ids.length)
    for (let row = 0; row < ids.length; row++) scores[row] = dotProduct(unit, values, row * width)
    return topRows(scores, limit).map((row) => ({ id: ids[row]!, score: scores[row]! }))
  }

  count(): number {
    return (this.#database.prepare('SELECT count(*) AS n FROM vector').get() as { n: number }).n
  }

  close(): void {
    this.#database.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #width(): number | undefined {
    const row = this.#database.prepare('SELECT length(data) AS bytes FROM vector LIMIT 1').get() as
      | { bytes: number }
      | undefined
    return row === undefined ? undefined : row.bytes / Float32Array.BYTES_PER_ELEMENT
  }

  #load(): Matrix {
    // Changes whenever another connection writes.
    const { data_version: version } = this.#database.prepare('PRAGMA data_version').get() as {
      data_version: number
    }
    if (this.#loaded?.version === version) return this.#loaded
    const width = this.#width() ?? 0
    const ids: string[] = []
    const values = new Float32Array(this.count() * width)
    const bytes = new Uint8Array(values.buffer)
    for (const row of this.#database.prepare('SELECT id, data FROM vector ORDER BY id').iterate()) {
      const { id, data } = row as { id: string; data: Uint8Array }
      // A row that another process added after the count waits for the next load.
      if ((ids.length + 1) * width > values.length) break
      bytes.set(data, ids.length * width * Float32Array.BYTES_PER_ELEMENT)
      ids.push(id)
    }
    this.#loaded = { ids, values, width, version }
    return this.#loaded
  }

  #inTransaction(work: () => void): void {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      work()
      this.#database.exec('COMMIT')
    } catch (error) {
      this.#database.exec('ROLLBACK')
      throw error
    }
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}

function normalize(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector)
  return length > 0 && Number.isFinite(length) ? vector.map((value) => value / length) : vector.map(() => 0)
}

/** Four independent sums, so that additions do not wait for each other. */
function dotProduct(left: Float32Array, right: Float32Array, from: number): number {
  let [a, b, c, d] = [0, 0, 0, 0]
  let column = 0
  for (; column + 3 < left.length; column += 4) {
    a += left[column]! * right[from + column]!
    b += left[column + 1]! * right[from + column + 1]!
    c += left[column + 2]! * right[from + column + 2]!
    d += left[column + 3]! * right[from + column + 3]!
  }
  for (; column < left.length; column++) a += left[column]! * right[from + column]!
  return a + b + c + d
}

/** The rows with the highest scores, without a full sort. */
function topRows(scores: Float32Array, limit: number): number[] {
  const rows: number[] = []
  for (let row = 0; row < scores.length; row++) {
    if (rows.length >= limit && scores[row]! <= scores[rows.at(-1)!]!) continue
    let place = rows.length
    while (place > 0 && scores[rows[place - 1]!]! < scores[row]!) place--
    rows.splice(place, 0, row)
    if (rows.length > limit) rows.pop()
  }
  return rows
}
