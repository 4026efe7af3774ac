import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { RecordKind } from '../schema/index.ts'
import { checksum } from './checksum.ts'
import type { EntryBatch, Identity, RecordLocation } from './entry-batch.ts'
import { inodeOf, openIndexFile } from './index-file.ts'

/** Rows per statement, because a call costs more than a row. */
const CHUNK = 100
/** Incremented whenever the tables or their contents change: an index of another version is rebuilt. */
export const INDEX_VERSION = 3
/**
 * Records are counted by kind and section of the log, so that a page far into a million records is found by adding up
 * a few counts instead of skipping rows.
 */
const STRETCH_BYTES = 4 * 1024 * 1024
/** Only this many damaged lines are stored; the others are just counted. */
const MAX_DAMAGE_ROWS = 1000
export const COUNT_BY_KIND = 'SELECT kind, sum(records) AS records FROM tally GROUP BY kind'

/** A skipped line of the log. */
export interface Damage {
  /** Starts at 1. */
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
  /** Hash of the log just before `bytes`, to verify that it is still the same log. */
  tailHash: string
  damagedLines: number
  /** Records without a checksum, from a version of coa that wrote none. */
  uncheckedLines: number
}

/** The index file is damaged, has another version, or was replaced: it must be rebuilt from the log. */
export class UnusableIndex extends Error {}

/** The log has lost lines that are in the index. */
export class TruncatedLog extends UnusableIndex {
  readonly recorded: IndexProgress

  constructor(recorded: IndexProgress) {
    super('the index is ahead of the log')
    this.recorded = recorded
  }
}

/** Ids are only in the log; the index identifies kind and id by 104 bits of a hash. */
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

/** The SQLite file: tables and statements. It knows nothing about the log. */
export class IndexDatabase {
  readonly path: string
  readonly #database: DatabaseSync
  readonly #inode: bigint | undefined
  readonly #statements = new Map<string, StatementSync>()

  /** Opens or creates the file. An empty path means a private temporary database that is deleted when closed. */
  constructor(path: string, options: { bulk?: boolean } = {}) {
    this.path = path
    const { database, inode } = openIndexFile(path)
    this.#database = database
    this.#inode = inode
    try {
      // A new file needs no journal: it is synced once and then renamed into place.
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
   * Runs `work` exclusively. Throws UnusableIndex if the file was replaced by a rebuild: continuing to write would
   * leave a journal that SQLite takes for the new file's (see swapIndex).
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
    if (row === undefined) throw new UnusableIndex('the index has no progress entry')
    const { checksum: recorded, ...progress } = row as unknown as IndexProgress & { checksum: string }
    // If the index covers more than the log, the log is reported as damaged; a damaged index must not cause that.
    if (recorded !== progressChecksum(progress)) throw new UnusableIndex('the index is damaged')
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

  /** Adds entries in log order; a later entry replaces an earlier one with the same identity. */
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
    // Sorted by hash, so that neighbors are on the same page.
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

  find({ high, low }: Identity): RecordLocation | undefined {
    const sql = `SELECT record.offset, length FROM lookup CROSS JOIN record ON record.offset = lookup.offset
      WHERE high = ? AND low = ?`
    return this.#prepare(sql).get(high, low) as RecordLocation | undefined
  }

  /** Positions of the batch whose identity is already in the index, with the offset of its record. */
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

  /** Locations of the records of a kind, in log order or newest first. */
  page(kind: RecordKind, descending: boolean, limit: number, skip: number): RecordLocation[] {
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
      return this.#prepare(sql).all(kind, from, limit, skip - skipped) as unknown as RecordLocation[]
    }
    return []
  }

  /**
   * The location of every record of a kind, in log order: twelve bytes each, a snapshot that later appends do not
   * change.
   */
  ranges(kind: RecordKind): { offsets: Float64Array; lengths: Uint32Array } {
    const records = this.tallies().get(kind) ?? 0
    const offsets = new Float64Array(records)
    const lengths = new Uint32Array(records)
    let position = 0
    const rows = this.#prepare('SELECT offset, length FROM record WHERE kind = ? ORDER BY offset').iterate(
      kind,
    )
    for (const row of rows as Iterable<RecordLocation>) {
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

/** Changes in the number of records, by kind and section of the log. */
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
