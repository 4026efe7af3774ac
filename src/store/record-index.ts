import { fstatSync } from 'node:fs'
import type { RecordKind } from '../schema/index.ts'
import { EntryBatch, type IndexEntry, identityOf, type Place } from './entry-batch.ts'
import { catchUp, hashTail, rebuildIndex } from './index-build.ts'
import { type Damage, IndexDatabase, type IndexProgress, ShortenedLog } from './index-database.ts'

/** Appended records wait in memory until so many have come together. */
const PENDING_LIMIT = 16_384

/**
 * Where each record lies in the log. Only a cache: whatever is wrong with the file, the answers come from the log,
 * by rebuilding the index or, where the folder cannot be written, by a private one.
 */
export class RecordIndex {
  readonly #indexPath: string
  readonly #logPath: string
  readonly #logFd: number
  #database: IndexDatabase
  /** The length of the log when the index was last brought up to date. */
  #seenSize = 0
  /** What this process has appended since. */
  readonly #pending = new EntryBatch(PENDING_LIMIT)
  /** True when there was an index file that could not be used. */
  rebuilt = false
  /** Lines that the index file had noted and the log no longer has. */
  lostLines = 0

  constructor(indexPath: string, logPath: string, logFd: number) {
    this.#indexPath = indexPath
    this.#logPath = logPath
    this.#logFd = logFd
    this.#database = this.#open()
  }

  progress(): IndexProgress {
    return this.#ask((database) => database.progress())
  }

  /** Notes a record that the log has taken. Never fails: what the index misses it finds in the log later. */
  add(entry: IndexEntry): void {
    this.#pending.add(entry)
    if (!this.#pending.full) return
    try {
      this.#flush()
    } catch {
      // Busy or full: dropped here, to be found in the log by the next query or opening.
      this.#pending.clear()
    }
  }

  find(kind: RecordKind, id: string): Place | undefined {
    const identity = identityOf(kind, id)
    const pending = this.#pending.find(identity)
    return pending ?? this.#ask((database) => database.find(identity), this.#pending.size > 0)
  }

  counts(): Map<string, number> {
    return this.#ask((database) => database.tallies())
  }

  page(kind: RecordKind, descending: boolean, limit: number, offset: number): Place[] {
    return this.#ask((database) => database.page(kind, descending, limit, offset))
  }

  ranges(kind: RecordKind): { offsets: Float64Array; lengths: Uint32Array } {
    return this.#ask((database) => database.ranges(kind))
  }

  damages(limit: number): Damage[] {
    return this.#ask((database) => database.damages(limit))
  }

  /** Throws the file away and builds it from the log; falls back to a private one. */
  rebuild(): void {
    this.#database.close()
    this.#database = this.#openRebuilt()
  }

  close(): void {
    try {
      this.#flush()
    } catch {
      // The index catches up when it is next opened.
    }
    this.#database.close()
  }

  /** Answers from an index that covers the whole log. `stale` allows one that lacks only what is pending. */
  #ask<T>(question: (database: IndexDatabase) => T, stale = false): T {
    const ask = () => {
      if (!stale) this.#refresh()
      return question(this.#database)
    }
    try {
      return ask()
    } catch {
      // Replaced by another process, perhaps: open it again. If that does not help, the file itself is bad.
      this.#database.close()
      this.#database = this.#open()
    }
    try {
      return ask()
    } catch {
      this.rebuild()
      return ask()
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
      // Another process may have indexed some of it already, or the log may have been tampered with.
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
      return error instanceof ShortenedLog ? this.#openBeside(error.noted) : this.#openRebuilt()
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

  /** Leaves the file as it is: it alone knows that something is missing, and every reader is to be told. */
  #openBeside(noted: IndexProgress): IndexDatabase {
    const own = this.#openPrivate()
    this.lostLines = Math.max(1, noted.lines - own.progress().lines)
    return own
  }

  #openPrivate(): IndexDatabase {
    const own = new IndexDatabase('')
    this.#catchUp(own)
    return own
  }
}
