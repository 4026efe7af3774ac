import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { joinPostings, type PostingList, PostingWriter } from './postings.ts'
import type { Lengths } from './ranking.ts'
import { plainWords, stemOf } from './words.ts'

/** Title words weigh more than body words. In units of one half, so that weights are integers. */
const titleWeight = 5
const textWeight = 2

interface SegmentRow {
  id: number
  first: number
  lengths: Uint8Array
}

/**
 * The inverted index of a corpus, in segments of consecutive rows. Each addition creates a segment; neighbors of
 * similar size are merged, so that there are few segments and no document is moved often. Row numbers are never
 * reused: a removed row has its length set to 0.
 */
export class Segments {
  static readonly schema = `
    CREATE TABLE IF NOT EXISTS segment (id INTEGER PRIMARY KEY, first INTEGER NOT NULL, lengths BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS posting (
      word TEXT NOT NULL, segment INTEGER NOT NULL, rows INTEGER NOT NULL, last INTEGER NOT NULL, data BLOB NOT NULL,
      PRIMARY KEY (word, segment)) WITHOUT ROWID;
  `
  /** The value of a weight of 1 in a posting list. */
  readonly unit = 1 / textWeight
  readonly #database: DatabaseSync
  readonly #find: StatementSync

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#find = database.prepare('SELECT rows, data FROM posting WHERE word = ? ORDER BY segment')
  }

  /** Row numbers continue from the last segment. */
  begin(): { add: (title: string, text: string) => number; finish: () => void } {
    const first = this.#segments().reduce(
      (end, { first, lengths }) => Math.max(end, first + lengths.length / 4),
      1,
    )
    const writers = new Map<string, PostingWriter>()
    // By surface form, so that each word is stemmed once and most need one lookup.
    const byWord = new Map<string, PostingWriter>()
    const writerOf = (word: string): PostingWriter => {
      const known = byWord.get(word)
      if (known !== undefined) return known
      const stem = stemOf(word)
      const writer = writers.get(stem) ?? new PostingWriter()
      writers.set(stem, writer)
      byWord.set(word, writer)
      return writer
    }
    const lengths: number[] = []
    return {
      add: (title, text) => {
        const row = first + lengths.length
        const titleWords = plainWords(title)
        const textWords = plainWords(text)
        for (const word of titleWords) writerOf(word).add(row, titleWeight)
        for (const word of textWords) writerOf(word).add(row, textWeight)
        lengths.push(titleWords.length + textWords.length)
        return row
      },
      finish: () => {
        if (lengths.length === 0) return
        const { lastInsertRowid } = this.#database
          .prepare('INSERT INTO segment (first, lengths) VALUES (?, ?)')
          .run(first, new Uint8Array(Float32Array.from(lengths).buffer))
        const insert = this.#insertion()
        // In primary key order, which is much faster than any other.
        for (const word of [...writers.keys()].sort())
          insert(word, Number(lastInsertRowid), writers.get(word)!.finish())
      },
    }
  }

  #insertion(): (word: string, segment: number, list: PostingList) => void {
    const insert = this.#database.prepare(
      'INSERT OR REPLACE INTO posting (word, segment, rows, last, data) VALUES (?, ?, ?, ?, ?)',
    )
    return (word, segment, { rows, last, data }) => void insert.run(word, segment, rows, last, data)
  }

  postings(word: string): { rows: number; lists: Uint8Array[] } {
    const found = this.#find.all(word) as unknown as { rows: number; data: Uint8Array }[]
    return { rows: found.reduce((sum, { rows }) => sum + rows, 0), lists: found.map(({ data }) => data) }
  }

  lengths(): Lengths {
    const segments = this.#segments()
    const end = segments.reduce((end, { first, lengths }) => Math.max(end, first + lengths.length / 4), 0)
    const of = new Float32Array(end)
    let live = 0
    let sum = 0
    for (const { first, lengths } of segments) of.set(floats(lengths), first)
    for (const length of of) {
      sum += length
      if (length > 0) live++
    }
    return { of, live, mean: live === 0 ? 1 : sum / live }
  }

  forget(rows: readonly number[]): void {
    if (rows.length === 0) return
    const update = this.#database.prepare('UPDATE segment SET lengths = ? WHERE id = ?')
    for (const { id, first, lengths: bytes } of this.#segments()) {
      const lengths = floats(bytes)
      const here = rows.filter((row) => row >= first && row < first + lengths.length)
      for (const row of here) lengths[row - first] = 0
      if (here.length > 0) update.run(new Uint8Array(lengths.buffer), id)
    }
  }

  /** Merges the last two segments as long as the older one is not much larger. */
  mergeSmall(): void {
    for (;;) {
      const [older, newer] = this.#segments().slice(-2)
      if (older === undefined || newer === undefined) return
      if (older.lengths.length > 2 * newer.lengths.length) return
      this.#merge(older, newer)
    }
  }

  #merge(older: SegmentRow, newer: SegmentRow): void {
    const database = this.#database
    const find = database.prepare('SELECT rows, last, data FROM posting WHERE word = ? AND segment = ?')
    const insert = this.#insertion()
    const words = database.prepare('SELECT word, rows, last, data FROM posting WHERE segment = ?')
    for (const { word, ...list } of words.all(newer.id) as unknown as ({ word: string } & PostingList)[]) {
      const before = find.get(word, older.id) as PostingList | undefined
      insert(word, older.id, before === undefined ? list : joinPostings(before, list))
    }
    database.prepare('DELETE FROM posting WHERE segment = ?').run(newer.id)
    database.prepare('DELETE FROM segment WHERE id = ?').run(newer.id)
    const lengths = new Float32Array(newer.first - older.first + newer.lengths.length / 4)
    lengths.set(floats(older.lengths))
    lengths.set(floats(newer.lengths), newer.first - older.first)
    database
      .prepare('UPDATE segment SET lengths = ? WHERE id = ?')
      .run(new Uint8Array(lengths.buffer), older.id)
  }

  #segments(): SegmentRow[] {
    return this.#database
      .prepare('SELECT id, first, lengths FROM segment ORDER BY first')
      .all() as unknown as SegmentRow[]
  }
}

/** A copy, because SQLite's bytes may not be aligned. */
function floats(bytes: Uint8Array): Float32Array<ArrayBuffer> {
  return new Float32Array(bytes.slice().buffer)
}
