import { decodeEnvelope, type Envelope } from './envelope.ts'
import { readLines } from './line-reader.ts'

export interface LogEntry extends Envelope {
  offset: number
  /** Where the next line begins. */
  end: number
}

/**
 * The entries in a part of the log, in order, as they are: not checked against their schemas, and with every version of a record.
 * For caches that read the log once; damaged lines are skipped, and whoever opens the run is told of them.
 */
export function* logEntries(fd: number, from: number, until: number): Generator<LogEntry> {
  for (const { offset, length, bytes } of readLines(fd, from, until)) {
    const decoded = decodeEnvelope(bytes)
    if (decoded.status === 'record') yield { ...decoded.envelope, offset, end: offset + length }
  }
}
