import { appendFileSync, closeSync, openSync } from 'node:fs'
import { StoreError } from '../base/errors/index.ts'
import { type RecordKind, type RecordOf, type RunManifest, recordKinds } from '../schema/index.ts'
import { readManifest, type StageUpdate, withStage, writeManifest } from './manifest-file.ts'
import { type MetricRow, readMetrics } from './metrics-file.ts'
import { RecordIndex } from './record-index.ts'
import { RecordReader } from './record-reader.ts'
import { describeDamage, type Recovery } from './recovery.ts'
import type { RunFiles } from './run-files.ts'
import type { RunWriter } from './run-writer.ts'
import type { TornTail } from './torn-tail.ts'
import { checkKind, type RecordInput } from './validate-record.ts'

export interface ListOptions {
  limit?: number
  offset?: number
  /** By position in the log: `asc`, the default, is oldest first. */
  order?: 'asc' | 'desc'
}

/** Gets what is stored, after it is. It must not throw. */
export interface RunWatcher {
  metric(row: MetricRow): void
  record<K extends RecordKind>(kind: K, record: RecordInput<K>): void
}

export interface RunParts {
  files: RunFiles
  writer: RunWriter | undefined
  torn: TornTail[]
}

/**
 * A run folder, open for reading or for reading and writing. A record appended twice under the same kind and id
 * counts once: `get`, `has`, `count`, `list` and `scan` see only the last version; the log keeps both.
 */
export class Run {
  readonly dir: string
  /** The paths inside the folder, such as `files.checkpoints`. */
  readonly files: RunFiles
  readonly #writer: RunWriter | undefined
  readonly #logFd: number
  readonly #index: RecordIndex
  readonly #reader: RecordReader
  readonly #torn: TornTail[]
  readonly #watchers = new Set<RunWatcher>()
  #lastWarning = ''
  #manifest: RunManifest
  #closed = false

  /** Use createRun or openRun. */
  constructor({ files, writer, torn }: RunParts) {
    this.dir = files.dir
    this.files = files
    this.#writer = writer
    this.#torn = torn
    this.#manifest = readManifest(files.manifest)
    this.#logFd = openSync(files.events, 'r')
    let index: RecordIndex | undefined
    try {
      index = new RecordIndex(files.index, files.events, this.#logFd)
      this.#index = index
      this.#reader = new RecordReader(this.#logFd)
      const { lastSeq } = this.#index.progress()
      if (writer !== undefined && index.lostLines > 0) throw lostLines(files, index.lostLines, torn)
      writer?.start(lastSeq + 1)
      this.#warn()
    } catch (error) {
      index?.close()
      closeSync(this.#logFd)
      throw error
    }
  }

  /** Damage found so far; reading may find more. */
  get recovery(): Recovery {
    this.#checkOpen()
    const { damagedLines, uncheckedLines } = this.#index.progress()
    return {
      torn: this.#torn,
      damagedLines,
      damaged: damagedLines > 0 ? this.#index.damages(100) : [],
      lostLines: this.#index.lostLines,
      uncheckedLines,
      takenOver: this.#writer?.takenOver,
      indexRebuilt: this.#index.rebuilt,
    }
  }

  get id(): string {
    return this.#manifest.id
  }

  /** Reread each time if another process may be writing. */
  get manifest(): RunManifest {
    if (this.#writer === undefined) this.#manifest = readManifest(this.files.manifest)
    return this.#manifest
  }

  get writable(): boolean {
    return this.#writer !== undefined && !this.#closed
  }

  /** Stores a record and returns its sequence number in the log. Once it returns, the record survives this process. */
  append<K extends RecordKind>(kind: K, record: RecordInput<K>): number {
    const entry = this.#requireWriter().append(kind, record)
    this.#index.add(entry)
    for (const watcher of this.#watchers) watcher.record(kind, record)
    return entry.seq
  }

  /** Stores all records or, if one is invalid or the disk is full, none. */
  appendMany<K extends RecordKind>(kind: K, records: readonly RecordInput<K>[]): number[] {
    const entries = this.#requireWriter().appendMany(kind, records)
    for (const entry of entries) this.#index.add(entry)
    for (const watcher of this.#watchers) for (const record of records) watcher.record(kind, record)
    return entries.map((entry) => entry.seq)
  }

  get<K extends RecordKind>(kind: K, id: string): RecordOf<K> | undefined {
    this.#checkOpen(kind)
    const read = () => {
      const location = this.#index.find(kind, id)
      return { location, record: location && this.#reader.read(kind, location, { id }) }
    }
    const { location, record } = read()
    if (location === undefined || record !== undefined) return record
    // Something else is at this location: either the index is wrong or the line is damaged. The log decides.
    this.#rebuildIndex()
    return read().record
  }

  has(kind: RecordKind, id: string): boolean {
    this.#checkOpen(kind)
    return this.#index.find(kind, id) !== undefined
  }

  count(kind: RecordKind): number {
    this.#checkOpen(kind)
    return this.#index.counts().get(kind) ?? 0
  }

  /** The number of records of every kind. */
  kinds(): Record<RecordKind, number> {
    this.#checkOpen()
    const counts = this.#index.counts()
    const pairs = recordKinds.map((kind) => [kind, counts.get(kind) ?? 0])
    return Object.fromEntries(pairs) as Record<RecordKind, number>
  }

  /** One page of records, in memory. For all of them use `scan`. */
  list<K extends RecordKind>(kind: K, options: ListOptions = {}): RecordOf<K>[] {
    this.#checkOpen(kind)
    const { limit = 100, offset = 0, order = 'asc' } = options
    const page = () => this.#index.page(kind, order === 'desc', atLeastZero(limit), atLeastZero(offset))
    const read = () => page().map((location) => this.#reader.read(kind, location))
    const records = read()
    if (!records.includes(undefined)) return records as RecordOf<K>[]
    this.#rebuildIndex()
    return read().filter((record) => record !== undefined)
  }

  /** Every record of a kind as of the start of the scan, in log order, one at a time. */
  *scan<K extends RecordKind>(kind: K): Generator<RecordOf<K>> {
    this.#checkOpen(kind)
    const reader = new RecordReader(this.#logFd)
    const end = this.#index.progress().bytes
    let { offsets, lengths } = this.#index.ranges(kind)
    let resumeAt = 0
    let rebuilt = false
    for (let position = 0; position < offsets.length; position++) {
      this.#checkOpen()
      const location = { offset: offsets[position] ?? 0, length: lengths[position] ?? 0 }
      const record = reader.read(kind, location, { sequential: true })
      if (record !== undefined) {
        resumeAt = location.offset + location.length
        yield record
      } else if (!rebuilt) {
        // The index was wrong, or the line was damaged: continue from here with a rebuilt index.
        rebuilt = true
        this.#rebuildIndex()
        const fresh = this.#index.ranges(kind)
        const from = fresh.offsets.filter((offset) => offset < resumeAt).length
        const until = fresh.offsets.filter((offset) => offset < end).length
        offsets = fresh.offsets.subarray(from, until)
        lengths = fresh.lengths.subarray(from, until)
        position = -1
      }
    }
  }

  /** Appends a row to metrics.jsonl, with the time as `t`. */
  metric(row: MetricRow): void {
    this.#requireWriter().metric(row)
    for (const watcher of this.#watchers) watcher.metric({ t: Date.now(), ...row })
  }

  /** Calls the watcher with everything that is stored from now on. Returns what ends that. */
  watch(watcher: RunWatcher): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  metrics(): Generator<MetricRow> {
    this.#checkOpen()
    return readMetrics(this.files.metrics, ({ line }) =>
      emitDamageWarning(this.#manifest.id, `line ${line} of metrics.jsonl is damaged and was skipped`),
    )
  }

  /** Records the status of a stage in the manifest. */
  setStage(name: string, update: StageUpdate): void {
    this.#requireWriter()
    const manifest = withStage(this.#manifest, name, update)
    writeManifest(this.files.manifest, manifest)
    this.#manifest = manifest
  }

  /** Appends a line with a timestamp to log.txt. */
  log(line: string): void {
    this.#requireWriter()
    appendFileSync(this.files.log, `${new Date().toISOString()} ${line}\n`)
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#index.close()
    closeSync(this.#logFd)
    this.#writer?.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #rebuildIndex(): void {
    this.#index.rebuild()
    this.#warn()
  }

  /** Damage is never silent: readers get fewer records than were written. */
  #warn(): void {
    const found = describeDamage(this.recovery).join('; ')
    if (found !== '' && found !== this.#lastWarning) emitDamageWarning(this.#manifest.id, found)
    this.#lastWarning = found
  }

  #checkOpen(kind?: string): void {
    if (kind !== undefined) checkKind(kind)
    if (this.#closed) {
      throw new StoreError(`run ${this.#manifest.id} is closed`, { fix: 'Open it again with openRun.' })
    }
  }

  #requireWriter(): RunWriter {
    this.#checkOpen()
    if (this.#writer !== undefined) return this.#writer
    throw new StoreError(`run ${this.#manifest.id} is open as read-only`, {
      fix: 'Open it with openRun(dir, { write: true }).',
    })
  }
}

function emitDamageWarning(run: string, found: string): void {
  process.emitWarning(`run ${run}: ${found}`, 'RunDamage')
}

function lostLines(files: RunFiles, lines: number, torn: readonly TornTail[]): StoreError {
  const saved = torn.flatMap(({ savedTo }) => savedTo ?? [])
  const kept = saved.length === 0 ? '' : ` (its damaged end was saved to ${saved.join(', ')})`
  return new StoreError(`${files.events} has lost ${lines} of the lines in its index${kept}`, {
    fix: `Restore the file from a backup, or accept the loss with \`coa run reindex ${files.dir}\` and continue.`,
    details: { path: files.events, lines },
  })
}

function atLeastZero(value: number): number {
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.trunc(value) || 0))
}
