import { nearestName, UsageError } from '../base/errors/index.ts'
import type { LogFormat, LogRecord } from './contract.ts'
import { logFormats } from './formats/index.ts'

/** The format of a value; undefined if none recognizes it. */
const formatOf = (value: unknown): LogFormat | undefined => logFormats.find((format) => format.matches(value))

/** The format with this name. */
export function formatNamed(name: string): LogFormat {
  const format = logFormats.find((one) => one.name === name)
  if (format !== undefined) return format
  const names = logFormats.map((one) => one.name)
  const near = nearestName(name, names)
  throw new UsageError(`there is no log format "${name}"`, {
    fix: near === undefined ? `Use one of ${names.join(', ')}.` : `Did you mean ${near}?`,
  })
}

/** How many elements of a list are looked at: the first may be a header. */
const FIRST = 20
/** Records may be under some keys, as in `{ "data": { "items": […] } }`. */
const DEEPEST = 3

interface Found {
  records: LogRecord[]
  format: LogFormat | undefined
  /** What the value has besides these records. */
  beside?: unknown
}

/** The records of a value in the format that recognizes it: the value itself, or the parts of it that a format recognizes. */
export function recordsIn({ value, where }: LogRecord, format?: LogFormat): Found {
  let found = format
  const recognizes = (one: unknown): boolean => {
    const seen = found ?? formatOf(one)
    if (seen?.matches(one) !== true) return false
    found = seen
    return true
  }
  const parts = [...recordParts({ value, where }, recognizes)]
  // A format that was asked for gets everything, so that its own error says what is missing.
  if (parts.length === 0) return { records: [{ value, where }], format }
  const beside = without(value, new Set(parts.map((part) => part.value)))
  return {
    records: parts.flatMap(({ records }) => records),
    format: found,
    ...(beside === undefined ? {} : { beside }),
  }
}

interface Part {
  value: unknown
  records: LogRecord[]
}

function* recordParts(
  record: LogRecord,
  recognizes: (value: unknown) => boolean,
  depth = 0,
): Generator<Part> {
  const { value, where } = record
  // A text inside of something unknown may only quote a log.
  if (depth > 0 && (typeof value !== 'object' || value === null)) return
  const partOf = (key: string | number): string => `${where}${depth === 0 ? '#' : '.'}${key}`
  if (recognizes(value)) yield { value, records: [record] }
  else if (Array.isArray(value)) {
    if (value.slice(0, FIRST).some(recognizes))
      yield { value, records: value.map((one, index) => ({ value: one, where: partOf(index + 1) })) }
  } else if (typeof value === 'object' && value !== null && depth < DEEPEST)
    for (const [key, child] of Object.entries(value))
      yield* recordParts({ value: child, where: partOf(key) }, recognizes, depth + 1)
}

/** A value without these parts; undefined if nothing is left. */
function without(value: unknown, parts: ReadonlySet<unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (parts.has(value)) return undefined
  if (Array.isArray(value)) return value
  const left = Object.entries(value).flatMap(([key, child]) => {
    const rest = without(child, parts)
    return rest === undefined ? [] : [[key, rest] as const]
  })
  return left.length === 0 ? undefined : Object.fromEntries(left)
}
