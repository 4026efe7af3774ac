import type { JsonObject } from '../json.ts'

/** One span of a trace, whatever file it came from. */
export interface Span {
  trace: string
  id: string
  parent?: string
  name: string
  /** Nanoseconds since any point in time. */
  start?: bigint
  end?: bigint
  /** The instrumentation that wrote it. */
  scope: string
  /** Keys as in the file, such as `gen_ai.prompt.0.content` or `gen_ai.input.messages`; values without their types. */
  attributes: JsonObject
  events: readonly SpanEvent[]
  /** Why it failed. */
  error?: string
  /** How many attributes the exporter dropped because of its limits. */
  dropped: number
  where: string
}

export interface SpanEvent {
  name: string
  time?: bigint
  attributes: JsonObject
  /** The body of a log record. */
  body?: unknown
}

/** A log record that belongs to a span. Records may be in another file than their span. */
export interface SpanLog {
  trace: string
  span: string
  event: SpanEvent
}

/** The ids of spans in hexadecimal digits, or numbers; JSON made from Protocol Buffers has them in base64. */
export function idOf(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value > 0 ? String(value) : undefined
  if (typeof value !== 'string' || value === '' || /^0+$/.test(value)) return undefined
  if (/^(?:0x)?[\da-f]+$/i.test(value)) return value.toLowerCase().replace(/^0x/, '')
  if (!/^(?:[\w+/-]{11}=|[\w+/-]{22}==)$/.test(value)) return value
  return Buffer.from(value, 'base64').toString('hex')
}

/** A time in nanoseconds: an ISO date, or a number or digits of seconds, milliseconds, microseconds or nanoseconds. */
export function nanosecondsOf(value: unknown): bigint | undefined {
  if (typeof value === 'string') {
    if (/^\d+$/.test(value)) return inNanoseconds(BigInt(value))
    return /^\d+\.\d+$/.test(value) ? nanosecondsOf(Number(value)) : ofDate(value)
  }
  // Console exporters in JavaScript write seconds and nanoseconds.
  if (Array.isArray(value) && value.length === 2 && value.every(Number.isInteger))
    return BigInt(value[0]) * 1_000_000_000n + BigInt(value[1])
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) return undefined
  if (Number.isInteger(value)) return inNanoseconds(BigInt(value))
  return value < 1e11 ? BigInt(Math.round(value * 1e6)) * 1000n : inNanoseconds(BigInt(Math.round(value)))
}

/** Between 1973 and 5138, each unit has a range of its own. */
function inNanoseconds(value: bigint): bigint | undefined {
  if (value === 0n) return undefined
  if (value < 100_000_000_000n) return value * 1_000_000_000n
  if (value < 100_000_000_000_000n) return value * 1_000_000n
  return value < 100_000_000_000_000_000n ? value * 1000n : value
}

/** Dates have up to nine decimals, of which `Date` keeps three; those of Python may lack a time zone. */
function ofDate(text: string): bigint | undefined {
  const [, date, fraction = '', zone = 'Z'] =
    /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?\d*\s*(Z|[+-]\d\d:?\d\d)?$/i.exec(text.trim()) ?? []
  if (date === undefined) return undefined
  const milliseconds = Date.parse(`${date.replace(' ', 'T')}${zone.replace(/^([+-]\d\d)(\d\d)$/, '$1:$2')}`)
  if (Number.isNaN(milliseconds)) return undefined
  return BigInt(milliseconds) * 1_000_000n + BigInt(fraction.padEnd(9, '0'))
}
