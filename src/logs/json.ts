import { parseJson } from '../schema/index.ts'
import type { Json } from './contract.ts'

export type JsonObject = Record<string, unknown>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value if it is an object. */
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {})

/** The elements if it is a list. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** The text if it is one. */
export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** An id, which some programs write as a number. */
export const idOf = (value: unknown): string | undefined =>
  typeof value === 'number' ? String(value) : textOf(value)

/** A value as text: text as it is, nothing as an empty text, anything else as JSON. */
export const asText = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value)

/** A value as JSON: what JSON cannot represent is left out. */
export const asJson = (value: unknown): Json =>
  value === undefined ? null : JSON.parse(JSON.stringify(value))

/** Text that may be JSON: the value if it is, else the text. Models write arguments that do not parse. */
export function parsedOr(value: unknown): Json {
  if (typeof value !== 'string') return asJson(value)
  try {
    return parseJson(value) as Json
  } catch {
    return value
  }
}

/** Follows keys and indexes: `at(value, 'choices', 0, 'message')`. */
export function at(value: unknown, ...path: (string | number)[]): unknown {
  let inner = value
  for (const key of path) {
    if (typeof inner !== 'object' || inner === null) return undefined
    inner = (inner as Record<string | number, unknown>)[key]
  }
  return inner
}

/** A time as milliseconds: an ISO date, or a number of seconds, milliseconds, microseconds or nanoseconds since 1970. */
export function timeOf(value: unknown): number | undefined {
  if (typeof value === 'string' && /^\d+$/.test(value)) return timeOf(Number(value))
  if (typeof value === 'string') {
    const time = Date.parse(value)
    return Number.isNaN(time) ? undefined : time
  }
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0) return undefined
  // Between 1973 and 5138, each unit has a range of its own.
  if (value < 1e11) return value * 1000
  if (value < 1e14) return value
  return value < 1e17 ? value / 1e3 : value / 1e6
}
