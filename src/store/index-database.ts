import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { RecordKind } from '../schema/index.ts'
import type { EntryBatch, Identity, Place } from './entry-batch.ts'
import { inodeOf, openIndexFile } from './index-file.ts'
import { checksum } from './seal.ts'

/** Rows to one statement: the call costs more than the row. */
const CHUNK = 100
/** Raised whenever the tables or what goes into them change: an index of another version is rebuilt. */
export const INDEX_VERSION = 3
/**
 * Records are counted by kind and stretch of the log, so that a page far into a million records is found by adding
 * up a few counts instead of skipping rows.
 */
const STRETCH_BYTES = 4 * 1024 * 1024
/** Reports name the first damaged lines; of the others only the number is kept. */
const MAX_DAMAGE_ROWS = 1000
export const COUNT_BY_KIND = 'SELECT kind, sum(records) AS records FROM tally GROUP BY kind'

/** A line of the log that was skipped. */
export interface Damage {
  /** From 1. */
  line: number
  offset: number
  length: number
  reason: string
}

/** How much of the log the index covers. */
export interface IndexProgress {
  bytes: number
  lines: number
  lastSeq: number
  /** Hash of the log just before `bytes`: shows that it is still the same log. */
  tailHash: string
  damagedLines: number
  /** Records in lines without a checksum, from a coa that wrote none. */
  uncheckedLines: number
}

/** The index file is damaged, of another version, or was replaced: it must be rebuilt from the log. */
export class UnusableIndex extends Error {}

/** The log has lost lines that the index had noted. */
export class ShortenedLog extends UnusableIndex {
  readonly noted: IndexProgress

  constructor(noted: IndexProgress) {
    super('the index is ahead of the log')
    this.noted = noted
  }
}

/** Ids are in the log only; here 104 bits of a hash stand for kind and id. */
const tables = `
  CREATE TABLE record (offset INTEGER PRIMARY KEY, length INTEGER NOT NULL, seq INTEGER NOT NULL,
    kind TEXT NOT NULL);
  CREATE INDEX record_by_kind ON record (kind);
  CREATE TABLE lookup (high INTEGER NOT NULL, low INTEGER NOT NULL, offset INTEGER NOT NULL,
    PRIMARY KEY (high, low)) WITHOUT ROWID;
  CREATE TABLE tally (kind TEXT NOT NULL, stretch INTEGER NOT NULL, records INTEGER NOT NULL,
    PRIMARY KEY (kind, stretch)) WITHOUT ROWID;
  CREATE TABLE damage (offset INTEGER PRIMARY KEY, line INTEGER NOT NULL, length INTEGER NOT NULL,
    reason TEXT NOT NULL);
  CREATE TABLE progress (bytes INTEGER NOT NULL, lines INTEGER NOT NULL, lastSeq INTEGER NOT NULL,
    tailHash TEXT NOT NULL, damagedLines INTEGER NOT NULL, uncheckedLines INTEGER NOT NULL,
    checksum TEXT NOT NULL);
  PRAGMA user_version = ${INDEX_VERSION};
`

/** The SQLite file: tables and statements, no knowledge of the log. */
export class IndexDatabase {
  readonly path: string
  readonly #database: DatabaseSync
  readonly #inode: bigint | undefined
  readonly #statements = new Map<string, StatementSync>()

  /** Opens or creates. An empty path is a private database in SQLite's temporary folder, gone when closed. */
  constructor(path: string, options: { bulk?: boolean } = {}) {
    this.path = path
    const { database, inode } = openIndexFile(path)
    this.#database = database
    this.#inode = inode
    try {
      // Building a fresh file needs no journal: it is synced once and then renamed into place.
      const journal =
        options.bulk || path === '' ? 'PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;' : ''
      this.#database.exec(`PRAGMA cache_size = -24000; ${journal}`)
      this.#createTables()
    } catch (error) {
      this.#database.close()
      throw error
    }
  }

  #createTables(): void {
    const version = () => Number(this.#database.prepare('PRAGMA user_version').get()?.['user_version'])
    if (version() === INDEX_VERSION) return
    this.transaction(() => {
      if (version() === INDEX_VERSION) return
      const empty = this.#database.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.['n'] === 0
      if (!empty) throw new UnusableIndex(`the index has version ${version()}, not ${INDEX_VERSION}`)
      this.#database.exec(tables)
      this.#saveProgress({ bytes: 0, lines: 0, lastSeq: 0, tailHash: '', damagedLines: 0, uncheckedLines: 0 })
    })
  }

  /**
   * Runs `work` alone. Throws UnusableIndex when the file was replaced by a rebuild: writing on would leave a
   * journal that SQLite takes for the new file's (see swapIndex).
   */
  transaction<T>(work: () => T): T {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      if (inodeOf(this.path) !== this.#inode) throw new UnusableIndex('the index file was replaced')
      const result = work()
      this.#database.exec('COMMIT')
      return result
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
  }

  progress(): IndexProgress {
    const row = this.#prepare('SELECT * FROM progress').get()
    if (row === undefined) throw new UnusableIndex('the index does not say what it covers')
    const { checksum: noted, ...progress } = row as unknown as IndexProgress & { checksum: string }
    // A log is said to have lost records if the index covers more of it: that must not come from a damaged index.
    if (noted !== progressChecksum(progress)) throw new UnusableIndex('the index is damaged')
    return progress
  }

  #saveProgress(progress: IndexProgress): void {
    const { bytes, lines, lastSeq, tailHash, damagedLines, uncheckedLines } = progress
    this.#prepare('DELETE FROM progress').run()
    this.#prepare('INSERT INTO progress VALUES (?, ?, ?, ?, ?, ?, ?)').run(
      bytes,
      lines,
      lastSeq,
      tailHash,
      damagedLines,
      uncheckedLines,
      progressChecksum(progress),
    )
  }

  /** Adds entries in log order; a later entry of the same identity replaces the earlier. */
  apply(batch: EntryBatch, damages: readonly Damage[], progress: IndexProgress): void {
    const positions = batch.latest()
    const changes = new TallyChanges()
    for (const position of positions) changes.add(batch.kindAt(position), batch.offsets[position] ?? 0, 1)
    for (const chunk of chunks(positions)) {
      const rows = chunk.flatMap((position) => [
        batch.offsets[position] ?? 0,
        batch.lengths[position] ?? 0,
        batch.seqs[position] ?? 0,
        batch.kindAt(position),
      ])
      this.#prepare(`INSERT INTO record VALUES ${repeat('(?, ?, ?, ?)', chunk.length)}`).run(...rows)
    }
    // In the order of the hashes, so that neighbours fall on the same page.
    positions.sort((a, b) => (batch.highs[a] ?? 0) - (batch.highs[b] ?? 0))
    for (const chunk of chunks(positions)) {
      for (const { position, offset } of this.#earlier(batch, chunk)) {
        this.#prepare('DELETE FROM record WHERE offset = ?').run(offset)
        changes.add(batch.kindAt(position), offset, -1)
      }
      const keys = chunk.flatMap((position) => [
        batch.highs[position] ?? 0,
        batch.lows[position] ?? 0,
        batch.offsets[position] ?? 0,
      ])
      const sql = `INSERT OR REPLACE INTO lookup VALUES ${repeat('(?, ?, ?)', chunk.length)}`
      this.#prepare(sql).run(...keys)
    }
    const tally = this.#prepare(
      'INSERT INTO tally VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET records = records + excluded.records',
    )
    for (const { kind, stretch, records } of changes.all()) tally.run(kind, stretch, records)
    this.#prepare('DELETE FROM tally WHERE records = 0').run()
    const damage = this.#prepare('INSERT INTO damage VALUES (?, ?, ?, ?)')
    const room = MAX_DAMAGE_ROWS - (progress.damagedLines - damages.length)
    for (const { offset, line, length, reason } of damages.slice(0, Math.max(0, room))) {
      damage.run(offset, line, length, reason)
    }
    this.#saveProgress(progress)
  }

  find({ high, low }: Identity): Place | undefined {
    const sql = `SELECT record.offset, length FROM lookup CROSS JOIN record ON record.offset = lookup.offset
      WHERE high = ? AND low = ?`
    return this.#prepare(sql).get(high, low) as Place | undefined
  }

  /** Those positions of the batch whose identity the index has already, and where its record lies. */
  #earlier(batch: EntryBatch, positions: readonly number[]): { position: number; offset: number }[] {
    const sql = `SELECT high, low, offset FROM lookup WHERE high IN (${repeat('?', positions.length)})`
    const rows = this.#prepare(sql).all(...positions.map((position) => batch.highs[position] ?? 0))
    if (rows.length === 0) return []
    const offsets = new Map(rows.map((row) => [`${row['high']} ${row['low']}`, row['offset'] as number]))
    return positions.flatMap((position) => {
      const offset = offsets.get(`${batch.highs[position]} ${batch.lows[position]}`)
      return offset === undefined ? [] : [{ position, offset }]
    })
  }

  /** Places of a kind in log order or, descending, newest first. */
  page(kind: RecordKind, descending: boolean, limit: number, skip: number): Place[] {
    const order = descending ? 'DESC' : 'ASC'
    const stretches = this.#prepare(
      `SELECT stretch, records FROM tally WHERE kind = ? ORDER BY stretch ${order}`,
    ).iterate(kind) as Iterable<{ stretch: number; records: number }>
    let skipped = 0
    for (const { stretch, records } of stretches) {
      if (skipped + records <= skip) {
        skipped += records
        continue
      }
      const bound = descending ? 'offset < ?' : 'offset >= ?'
      const from = (descending ? stretch + 1 : stretch) * STRETCH_BYTES
      const sql = `SELECT offset, length FROM record WHERE kind = ? AND ${bound} ORDER BY offset ${order} LIMIT ? OFFSET ?`
      return this.#prepare(sql).all(kind, from, limit, skip - skipped) as unknown as Place[]
    }
    return []
  }

  /** Where every record of a kind lies, in log order: twelve bytes each, a snapshot later appends do not change. */
  ranges(kind: RecordKind): { offsets: Float64Array; lengths: Uint32Array } {
    const records = this.tallies().get(kind) ?? 0
    const offsets = new Float64Array(records)
    const lengths = new Uint32Array(records)
    let position = 0
    const rows = this.#prepare('SELECT offset, length FROM record WHERE kind = ? ORDER BY offset').iterate(
      kind,
    )
    for (const row of rows as Iterable<Place>) {
      offsets[position] = row.offset
      lengths[position++] = row.length
    }
    if (position !== records)
      throw new UnusableIndex(`the index counts ${records} ${kind} records, not ${position}`)
    return { offsets, lengths }
  }

  tallies(): Map<string, number> {
    const rows = this.#prepare(COUNT_BY_KIND).all()
    return new Map(rows.map((row) => [row['kind'] as string, row['records'] as number]))
  }

  damages(limit: number): Damage[] {
    const rows = this.#prepare('SELECT line, offset, length, reason FROM damage ORDER BY offset LIMIT ?').all(
      limit,
    )
    return rows.map((row) => ({ ...row }) as unknown as Damage)
  }

  close(): void {
    this.#database.close()
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#database.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }
}

function progressChecksum({
  bytes,
  lines,
  lastSeq,
  tailHash,
  damagedLines,
  uncheckedLines,
}: IndexProgress): string {
  return checksum(JSON.stringify([bytes, lines, lastSeq, tailHash, damagedLines, uncheckedLines]))
}

function* chunks(positions: Uint32Array): Generator<number[]> {
  for (let start = 0; start < positions.length; start += CHUNK) {
    yield Array.from(positions.subarray(start, start + CHUNK))
  }
}

/** How the number of records changes, by kind and stretch of the log. */
class TallyChanges {
  readonly #changes = new Map<string, { kind: string; stretch: number; records: number }>()

  add(kind: string, offset: number, records: number): void {
    const stretch = Math.floor(offset / STRETCH_BYTES)
    const key = `${kind} ${stretch}`
    const change = this.#changes.get(key)
    if (change === undefined) this.#changes.set(key, { kind, stretch, records })
    else change.records += records
  }

  all(): Iterable<{ kind: string; stretch: number; records: number }> {
    return this.#changes.values()
  }
}

function repeat(pattern: string, times: number): string {
  return Array.from({ length: times }, () => pattern).join(', ')
}
