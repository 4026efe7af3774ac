import { isUtf8 } from 'node:buffer'
import { withoutSecrets } from '../base/errors/index.ts'
import { parseJson, type RecordKind, recordSchemas } from '../schema/index.ts'
import { sealOfJson } from './seal.ts'

/** One line of events.jsonl. */
export interface Envelope {
  /** Position in the log, from 1. */
  seq: number
  /** Milliseconds since 1970. */
  t: number
  kind: RecordKind
  id: string
  data: unknown
}

/**
 * What a line turns out to be. `garbage` is no record line at all, as a torn write leaves it; `unusable` is one
 * that this version cannot take: another kind, or data that do not fit the schema.
 */
export type Decoded =
  | { status: 'record'; envelope: Envelope; hasChecksum: boolean }
  | { status: 'unusable'; reason: string; seq: number }
  | { status: 'garbage'; reason: string }

/** The text of a line up to its checksum, see `sealField`. */
export function encodeEnvelope(envelope: Envelope): string {
  const { seq, t, kind, id, data } = envelope
  const head = JSON.stringify({ seq, t, kind, id })
  return `${head.slice(0, -1)},"data":${withoutSecrets(JSON.stringify(data))}`
}

export function decodeEnvelope(bytes: Uint8Array | undefined): Decoded {
  if (bytes === undefined) return { status: 'garbage', reason: 'the line is too long' }
  const seal = sealOfJson(bytes)
  if (seal === 'broken') return { status: 'garbage', reason: 'its checksum does not match' }
  const value = parseJsonObject(bytes)
  if (value === undefined) return { status: 'garbage', reason: 'not a JSON object' }
  const { seq, t, kind, id, data } = value
  if (!isPosition(seq) || typeof t !== 'number' || typeof kind !== 'string' || typeof id !== 'string') {
    return { status: 'garbage', reason: 'not a record line: seq, t, kind or id is missing' }
  }
  if (typeof data !== 'object' || data === null || (data as { id?: unknown }).id !== id) {
    return { status: 'garbage', reason: 'not a record line: data is missing or has another id' }
  }
  if (!Object.hasOwn(recordSchemas, kind)) {
    return { status: 'unusable', reason: `unknown kind ${JSON.stringify(kind)}`, seq }
  }
  if (!id.isWellFormed()) return { status: 'unusable', reason: 'the id is not valid Unicode', seq }
  const envelope = { seq, t, kind: kind as RecordKind, id, data }
  return { status: 'record', envelope, hasChecksum: seal === 'intact' }
}

/** Parses strictly: bytes that are not UTF-8 would otherwise turn into replacement characters unnoticed. */
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
