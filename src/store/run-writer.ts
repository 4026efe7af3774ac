import { StoreError } from '../base/errors/index.ts'
import type { RecordKind } from '../schema/index.ts'
import { AppendFile } from './append-file.ts'
import { CHECKSUM_BYTES } from './checksum.ts'
import type { IndexEntry } from './entry-batch.ts'
import { encodeEnvelope } from './envelope.ts'
import { LineBuffer } from './line-buffer.ts'
import { MAX_LINE_BYTES } from './line-reader.ts'
import type { Lock, LockOwner } from './lock.ts'
import { type MetricRow, MetricsWriter } from './metrics-file.ts'
import type { RunFiles } from './run-files.ts'
import { type RecordInput, validateRecord } from './validate-record.ts'

/** `process`: an acknowledged record survives the end of the process, even by SIGKILL; `disk`: also a power failure. */
export type Durability = 'process' | 'disk'

/** Writes to a run: validates, numbers and appends records. */
export class RunWriter {
  readonly #lock: Lock
  readonly #durability: Durability
  readonly #events: AppendFile
  readonly #metrics: MetricsWriter
  readonly #lines = new LineBuffer()
  #nextSeq = 1

  /** Torn tails must have been truncated before. */
  constructor(files: RunFiles, lock: Lock, durability: Durability) {
    this.#lock = lock
    this.#durability = durability
    this.#events = new AppendFile(files.events)
    this.#metrics = new MetricsWriter(files.metrics)
  }

  get takenOver(): LockOwner | undefined {
    return this.#lock.takenOver
  }

  start(nextSeq: number): void {
    this.#nextSeq = nextSeq
  }

  append<K extends RecordKind>(kind: K, record: RecordInput<K>): IndexEntry {
    const data = validateRecord(kind, record)
    this.#lines.clear()
    const length = this.#lines.addWithChecksum(this.#encode(kind, data, this.#nextSeq))
    const offset = this.#events.append(this.#lines.block, this.#durability === 'disk')
    return { kind, id: data.id, seq: this.#nextSeq++, offset, length }
  }

  appendMany<K extends RecordKind>(kind: K, records: readonly RecordInput<K>[]): IndexEntry[] {
    if (records.length === 0) return []
    this.#lines.clear()
    let end = this.#events.size
    const entries = records.map((record, position): IndexEntry => {
      const data = validateRecord(kind, record, ` (number ${position} given)`)
      const seq = this.#nextSeq + position
      const length = this.#lines.addWithChecksum(this.#encode(kind, data, seq))
      end += length
      return { kind, id: data.id, seq, offset: end - length, length }
    })
    this.#events.append(this.#lines.block, this.#durability === 'disk')
    this.#nextSeq += entries.length
    return entries
  }

  metric(row: MetricRow): void {
    this.#metrics.append(row)
  }

  close(): void {
    this.#events.close()
    this.#metrics.close()
    this.#lock.release()
  }

  #encode(kind: RecordKind, data: { id: string }, seq: number): string {
    const line = encodeEnvelope({ seq, t: Date.now(), kind, id: data.id, data })
    const limit = MAX_LINE_BYTES - CHECKSUM_BYTES
    if (line.length <= limit / 3 || Buffer.byteLength(line) <= limit) return line
    throw new StoreError(`this ${kind} is too large for the store to read back`, {
      fix: `Keep records below ${MAX_LINE_BYTES} bytes; nothing was written.`,
      details: { kind, id: data.id },
    })
  }
}
