import { isUtf8 } from 'node:buffer'
import { withoutSecrets } from '../base/errors/index.ts'
import { parseJson, type RecordKind, recordSchemas } from '../schema/index.ts'
import { jsonChecksumState } from './checksum.ts'

/** One line of events.jsonl. */
export interface Envelope {
  /** Position in the log, starting at 1. */
  seq: number
  /** Milliseconds since 1970. */
  t: number
  kind: RecordKind
  id: string
  data: unknown
}

/**
 * The result of decoding a line. `garbage` is not a record at all, as left by a torn write; `unusable` is a record
 * this version cannot read: an unknown kind, or data that does not match the schema.
 */
export type Decoded =
  | { status: 'record'; envelope: Envelope; hasChecksum: boolean }
  | { status: 'unusable'; reason: string; seq: number }
  | { status: 'garbage'; reason: string }

/** The text of a line up to its checksum; see `checksumField`. */
export function encodeEnvelope(envelope: Envelope): string {
  const { seq, t, kind, id, data } = envelope
  const head = JSON.stringify({ seq, t, kind, id })
  return `${head.slice(0, -1)},"data":${withoutSecrets(JSON.stringify(data))}`
}

export function decodeEnvelope(bytes: Uint8Array | undefined): Decoded {
  if (bytes === undefined) return { status: 'garbage', reason: 'the line is too long' }
  const checksumState = jsonChecksumState(bytes)
  if (checksumState === 'broken') return { status: 'garbage', reason: 'its checksum does not match' }
  const value = parseJsonObject(bytes)
  if (value === undefined) return { status: 'garbage', reason: 'not a JSON object' }
  const { seq, t, kind, id, data } = value
  if (!isPosition(seq) || typeof t !== 'number' || typeof kind !== 'string' || typeof id !== 'string') {
    return { status: 'garbage', reason: 'not a record line: seq, t, kind or id is missing' }
  }
  if (typeof data !== 'object' || data === null || (data as { id?: unknown }).id !== id) {
    return { status: 'garbage', reason: 'not a record line: data is missing or has a different id' }
  }
  if (!Object.hasOwn(recordSchemas, kind)) {
    return { status: 'unusable', reason: `unknown kind ${JSON.stringify(kind)}`, seq }
  }
  if (!id.isWellFormed()) return { status: 'unusable', reason: 'the id is not valid Unicode', seq }
  const envelope = { seq, t, kind: kind as RecordKind, id, data }
  return { status: 'record', envelope, hasChecksum: checksumState === 'intact' }
}

/** Strict: invalid UTF-8 would otherwise silently turn into replacement characters. */
export function parseJsonObject(bytes: Uint8Array): Record<string, unknown> | undefined {
  if (!isUtf8(bytes)) return undefined
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  try {
    const value = parseJson(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function isPosition(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0
}
