import { fstatSync } from 'node:fs'
import type { RecordKind } from '../schema/index.ts'
import { EntryBatch, type IndexEntry, identityOf, type RecordLocation } from './entry-batch.ts'
import { catchUp, hashTail, rebuildIndex } from './index-build.ts'
import { type Damage, IndexDatabase, type IndexProgress, TruncatedLog } from './index-database.ts'

/** Maximum number of appended records held in memory before they are indexed. */
const PENDING_LIMIT = 16_384

/**
 * The location of each record in the log. It is only a cache: if the index file is unusable, it is rebuilt from the
 * log or, in a read-only folder, replaced by a private one.
 */
export class RecordIndex {
  readonly #indexPath: string
  readonly #logPath: string
  readonly #logFd: number
  #database: IndexDatabase
  /** Length of the log when the index was last updated. */
  #seenSize = 0
  /** Records appended by this process since then. */
  readonly #pending = new EntryBatch(PENDING_LIMIT)
  /** True if an existing index file was unusable. */
  rebuilt = false
  /** Lines that are in the index file but no longer in the log. */
  lostLines = 0

  constructor(indexPath: string, logPath: string, logFd: number) {
    this.#indexPath = indexPath
    this.#logPath = logPath
    this.#logFd = logFd
    this.#database = this.#open()
  }

  progress(): IndexProgress {
    return this.#query((database) => database.progress())
  }

  /** Adds a record that is in the log. Never fails: what the index misses is found in the log later. */
  add(entry: IndexEntry): void {
    this.#pending.add(entry)
    if (!this.#pending.full) return
    try {
      this.#flush()
    } catch {
      // Busy or full: dropped, and found in the log by the next query or on the next open.
      this.#pending.clear()
    }
  }

  find(kind: RecordKind, id: string): RecordLocation | undefined {
    const identity = identityOf(kind, id)
    const pending = this.#pending.find(identity)
    return pending ?? this.#query((database) => database.find(identity), this.#pending.size > 0)
  }

  counts(): Map<string, number> {
    return this.#query((database) => database.tallies())
  }

  page(kind: RecordKind, descending: boolean, limit: number, offset: number): RecordLocation[] {
    return this.#query((database) => database.page(kind, descending, limit, offset))
  }

  ranges(kind: RecordKind): { offsets: Float64Array; lengths: Uint32Array } {
    return this.#query((database) => database.ranges(kind))
  }

  damages(limit: number): Damage[] {
    return this.#query((database) => database.damages(limit))
  }

  /** Rebuilds the file from the log, or falls back to a private index. */
  rebuild(): void {
    this.#database.close()
    this.#database = this.#openRebuilt()
  }

  close(): void {
    try {
      this.#flush()
    } catch {
      // The index catches up on the next open.
    }
    this.#database.close()
  }

  /** Queries an index that covers the whole log. With `stale`, it may lack the pending records. */
  #query<T>(query: (database: IndexDatabase) => T, stale = false): T {
    const run = () => {
      if (!stale) this.#refresh()
      return query(this.#database)
    }
    try {
      return run()
    } catch {
      // Another process may have replaced the file, so reopen it. If that does not help, the file itself is bad.
      this.#database.close()
      this.#database = this.#open()
    }
    try {
      return run()
    } catch {
      this.rebuild()
      return run()
    }
  }

  #refresh(): void {
    if (this.#pending.size > 0) this.#flush()
    else if (fstatSync(this.#logFd).size !== this.#seenSize) this.#catchUp(this.#database)
  }

  #flush(): void {
    if (this.#pending.size === 0) return
    const { start, end, size } = this.#pending
    const done = this.#database.transaction(() => {
      const before = this.#database.progress()
      // Another process may already have indexed part of it, or the log may have been modified.
      if (before.bytes !== start || fstatSync(this.#logFd).size < end) return false
      this.#database.apply(this.#pending, [], {
        bytes: end,
        lines: before.lines + size,
        lastSeq: this.#pending.seqs[size - 1] ?? 0,
        tailHash: hashTail(this.#logFd, end),
        damagedLines: before.damagedLines,
        uncheckedLines: before.uncheckedLines,
      })
      return true
    })
    if (done) {
      this.#seenSize = end
      this.#pending.clear()
    } else this.#catchUp(this.#database)
  }

  #catchUp(database: IndexDatabase): void {
    const { size } = fstatSync(this.#logFd)
    catchUp(database, this.#logFd, size)
    this.#seenSize = size
    this.#pending.clear()
  }

  #open(): IndexDatabase {
    let database: IndexDatabase | undefined
    try {
      database = new IndexDatabase(this.#indexPath)
      this.#catchUp(database)
      return database
    } catch (error) {
      database?.close()
      return error instanceof TruncatedLog ? this.#openAfterLoss(error.recorded) : this.#openRebuilt()
    }
  }

  #openRebuilt(): IndexDatabase {
    this.rebuilt = true
    let database: IndexDatabase | undefined
    try {
      rebuildIndex(this.#indexPath, this.#logPath)
      database = new IndexDatabase(this.#indexPath)
      this.#catchUp(database)
      return database
    } catch {
      database?.close()
      return this.#openPrivate()
    }
  }

  /** Keeps the file: only it shows that something is missing, and every reader must be warned. */
  #openAfterLoss(recorded: IndexProgress): IndexDatabase {
    const own = this.#openPrivate()
    this.lostLines = Math.max(1, recorded.lines - own.progress().lines)
    return own
  }

  #openPrivate(): IndexDatabase {
    const own = new IndexDatabase('')
    this.#catchUp(own)
    return own
  }
}
