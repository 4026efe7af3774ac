import type { RecordKind, RecordOf } from '../schema/index.ts'
import type { RecordLocation } from './entry-batch.ts'
import { decodeEnvelope } from './envelope.ts'
import { readRange } from './read-range.ts'
import { checkRecord } from './validate-record.ts'

/** Scans read this much at a time, so that small adjacent records share one system call. */
const READ_AHEAD = 256 * 1024

/** Reads records at the locations in the index and verifies them. */
export class RecordReader {
  readonly #fd: number
  #window: Buffer = Buffer.alloc(0)
  #windowStart = 0

  constructor(fd: number) {
    this.#fd = fd
  }

  /** Undefined if there is no such record at the location: then the index is wrong. */
  read<K extends RecordKind>(
    kind: K,
    location: RecordLocation,
    options: { id?: string; sequential?: boolean } = {},
  ): RecordOf<K> | undefined {
    const { offset, length } = location
    const bytes = options.sequential
      ? this.#readAhead(location)
      : readRange(this.#fd, offset, offset + length)
    if (bytes.length !== length || bytes.at(-1) !== 0x0a) return undefined
    const decoded = decodeEnvelope(bytes.subarray(0, -1))
    if (decoded.status !== 'record' || decoded.envelope.kind !== kind) return undefined
    if (options.id !== undefined && decoded.envelope.id !== options.id) return undefined
    // Validated again, so that records from older versions get the defaults of newer fields.
    const checked = checkRecord(kind, decoded.envelope.data)
    return 'record' in checked ? checked.record : undefined
  }

  #readAhead(location: RecordLocation): Buffer {
    const begin = location.offset - this.#windowStart
    if (begin < 0 || begin + location.length > this.#window.length) {
      this.#window = readRange(
        this.#fd,
        location.offset,
        location.offset + Math.max(READ_AHEAD, location.length),
      )
      this.#windowStart = location.offset
    }
    const from = location.offset - this.#windowStart
    return this.#window.subarray(from, from + location.length)
  }
}
