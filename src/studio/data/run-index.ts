import { closeSync, fstatSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { migrate, type RecordKind } from '../../schema/index.ts'
import {
  type DatabaseSync,
  hashTail,
  type LogEntry,
  logEntries,
  openIndex,
  runFiles,
} from '../../store/index.ts'
import type { Indexing } from '../api.ts'
import { DecisionFiles } from './decision-files.ts'
import {
  attemptRow,
  chainRow,
  markRow,
  type Row,
  rolloutRow,
  taskRow,
  trajectoryRow,
  type Value,
} from './extract.ts'
import type { Sql } from './sql.ts'
import { Summaries } from './summaries.ts'
import { TABLES_VERSION, tables } from './tables.ts'

type Statement = ReturnType<DatabaseSync['prepare']>

/** How long one transaction may take, so that requests are answered while a log is read for the first time. */
const SLICE_MS = 20
/** Checked after so many bytes, because time costs more than a line. */
const CHUNK_BYTES = 1 << 18

/**
 * What lists need to know about the records of a run, in a SQLite file next to its log. It is only a cache: if it is unusable, or is of
 * another log, it is made again; in a folder that cannot be written, it is kept in a temporary file.
 */
export class RunIndex implements Sql {
  readonly dir: string
  readonly #logFd: number
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, Statement>()
  readonly #summaries: Summaries
  readonly #decisions: DecisionFiles

  constructor(dir: string) {
    this.dir = dir
    this.#logFd = openSync(runFiles(dir).events, 'r')
    this.#database = openCache(join(dir, 'studio.sqlite'))
    this.#summaries = new Summaries(this, dir)
    this.#decisions = new DecisionFiles(this, dir)
    if (this.get('SELECT bytes FROM progress') === undefined) this.#restart()
  }

  all<T>(sql: string, ...values: Value[]): T[] {
    return this.#prepare(sql).all(...values) as T[]
  }

  get<T>(sql: string, ...values: Value[]): T | undefined {
    return this.#prepare(sql).get(...values) as T | undefined
  }

  run(sql: string, ...values: Value[]): void {
    this.#prepare(sql).run(...values)
  }

  insert(table: string, row: Row): void {
    const names = Object.keys(row)
    const sql = `INSERT OR REPLACE INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`
    this.#prepare(sql).run(...Object.values(row))
  }

  /** Number of records by kind, as far as the log has been read. */
  counts(): Record<string, number> {
    const rows = this.all<{ kind: string; records: number }>('SELECT kind, records FROM tally')
    return Object.fromEntries(rows.map(({ kind, records }) => [kind, records]))
  }

  /** How far the log has been read; undefined if that is all of it. */
  indexing(): Indexing | undefined {
    const { bytes } = this.get<{ bytes: number }>('SELECT bytes FROM progress')!
    const of = fstatSync(this.#logFd).size
    return bytes < of ? { bytes, of } : undefined
  }

  /** Reads on for a moment. Returns whether there is more to read. */
  advance(): boolean {
    return this.#transaction(() => {
      const size = fstatSync(this.#logFd).size
      const { bytes, tail } = this.get<{ bytes: number; tail: string }>('SELECT bytes, tail FROM progress')!
      if (bytes > size || (bytes > 0 && hashTail(this.#logFd, bytes) !== tail)) {
        this.#restart()
        return true
      }
      this.#decisions.update()
      return bytes < size && this.#read(bytes, size)
    })
  }

  close(): void {
    this.#database.close()
    closeSync(this.#logFd)
  }

  #read(from: number, size: number): boolean {
    const started = performance.now()
    let [end, checkAt] = [from, from + CHUNK_BYTES]
    for (const entry of logEntries(this.#logFd, from, size)) {
      this.#add(entry)
      end = entry.end
      if (end < checkAt) continue
      if (performance.now() - started > SLICE_MS) break
      checkAt = end + CHUNK_BYTES
    }
    this.#summaries.finish()
    // What follows the last good line may still be being written.
    if (end === from) return false
    this.run('UPDATE progress SET bytes = ?, tail = ?', end, hashTail(this.#logFd, end))
    return end < size
  }

  #add({ kind, id, seq, data }: LogEntry): void {
    try {
      const isNew = this.#store(kind, id, seq, migrate(kind, data))
      if (isNew)
        this.run('INSERT INTO tally VALUES (?, 1) ON CONFLICT DO UPDATE SET records = records + 1', kind)
    } catch (error) {
      // Not as its kind should be: readers of the run are told, and lists leave it out.
      if (!(error instanceof TypeError)) throw error
    }
  }

  #store(kind: RecordKind, id: string, seq: number, record: unknown): boolean {
    const table = tablesOf[kind]
    if (table === undefined) return true
    const isNew = this.get(`SELECT 1 FROM ${table.name} WHERE id = ?`, id) === undefined
    const row: Row = { id, seq, ...table.rowOf(record as never) }
    if (row['suite'] === '') row['suite'] = this.#suiteOf(row['taskId'] ?? null)
    this.insert(table.name, row)
    if (kind === 'rollout') this.#summaries.touch(row)
    return isNew
  }

  #suiteOf(taskId: Value): string {
    return this.get<{ suite: string }>('SELECT suite FROM task WHERE id = ?', taskId)?.suite ?? ''
  }

  #restart(): void {
    for (const { name } of this.all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table'"))
      this.#database.exec(`DELETE FROM ${name}`)
    this.run("INSERT INTO progress VALUES (0, '', '')")
  }

  #transaction<T>(work: () => T): T {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      const result = work()
      this.#database.exec('COMMIT')
      return result
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
  }

  #prepare(sql: string): Statement {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#database.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }
}

const tablesOf: Partial<Record<RecordKind, { name: string; rowOf: (record: never) => Row }>> = {
  task: { name: 'task', rowOf: taskRow },
  trajectory: { name: 'trajectory', rowOf: trajectoryRow },
  sequence: { name: 'chain', rowOf: chainRow },
  rollout: { name: 'rollout', rowOf: rolloutRow },
  attempt: { name: 'attempt', rowOf: attemptRow },
  mark: { name: 'mark', rowOf: markRow },
}

function openCache(file: string): DatabaseSync {
  const open = (path: string): DatabaseSync => {
    const database = openIndex(path, { tables, version: TABLES_VERSION, readOnly: false })
    // A cache that is lost is made again.
    database.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -8000')
    return database
  }
  try {
    return open(file)
  } catch {
    try {
      for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true })
      return open(file)
    } catch {
      return open('')
    }
  }
}
