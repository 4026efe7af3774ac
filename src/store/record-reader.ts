import type { RecordKind, RecordOf } from '../schema/index.ts'
import type { Place } from './entry-batch.ts'
import { decodeEnvelope } from './envelope.ts'
import { readRange } from './read-range.ts'
import { checkRecord } from './validate-record.ts'

/** Scans read so much at a time, so that small neighbouring records cost one system call together. */
const READ_AHEAD = 256 * 1024

/** Reads records at places the index names, and looks whether they really are there. */
export class RecordReader {
  readonly #fd: number
  #window: Buffer = Buffer.alloc(0)
  #windowStart = 0

  constructor(fd: number) {
    this.#fd = fd
  }

  /** Undefined when the place does not hold such a record: then the index is wrong. */
  read<K extends RecordKind>(
    kind: K,
    place: Place,
    options: { id?: string; sequential?: boolean } = {},
  ): RecordOf<K> | undefined {
    const { offset, length } = place
    const bytes = options.sequential ? this.#readAhead(place) : readRange(this.#fd, offset, offset + length)
    if (bytes.length !== length || bytes.at(-1) !== 0x0a) return undefined
    const decoded = decodeEnvelope(bytes.subarray(0, -1))
    if (decoded.status !== 'record' || decoded.envelope.kind !== kind) return undefined
    if (options.id !== undefined && decoded.envelope.id !== options.id) return undefined
    // Validated again, so that records of an older coa get the defaults of fields added since.
    const checked = checkRecord(kind, decoded.envelope.data)
    return 'record' in checked ? checked.record : undefined
  }

  #readAhead(place: Place): Buffer {
    const begin = place.offset - this.#windowStart
    if (begin < 0 || begin + place.length > this.#window.length) {
      this.#window = readRange(this.#fd, place.offset, place.offset + Math.max(READ_AHEAD, place.length))
      this.#windowStart = place.offset
    }
    const from = place.offset - this.#windowStart
    return this.#window.subarray(from, from + place.length)
  }
}
