import type { Payload } from '../../language/grammar/index.ts'
import type { EventOf } from './links.ts'

type Json = EventOf<'tool-called'>['input']

/** Arguments in the shape most tools take them: one text, several, or fields with names. */
export type PlainArguments = string | readonly string[] | Readonly<Record<string, Json>>

/** Reads a payload of ours, or whatever a foreign tool was called with. */
export function plainArguments(input: Json): PlainArguments {
  if (isPayload(input)) return plainPayload(input)
  if (typeof input === 'string') return input
  if (isTexts(input)) return input
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input
  return JSON.stringify(input)
}

/** The texts of the one argument that holds them, and the names of those that are left over. */
export function mainTexts(given: PlainArguments): { texts: readonly string[] | undefined; unused: string[] } {
  if (typeof given === 'string') return { texts: [given], unused: [] }
  if (isTexts(given)) return { texts: given, unused: [] }
  const fields = Object.entries(given)
  const main = fields.find(([, value]) => typeof value === 'string' || isTexts(value))
  const unused = fields.filter((field) => field !== main).map(([name]) => name)
  if (main === undefined) return { texts: undefined, unused }
  return { texts: typeof main[1] === 'string' ? [main[1]] : (main[1] as string[]), unused }
}

export function isPayload(value: unknown): value is Payload {
  if (typeof value !== 'object' || value === null) return false
  const { syntax, text, items, code, value: inner } = value as Record<string, unknown>
  switch (syntax) {
    case 'text':
      return typeof text === 'string'
    case 'list':
      return isTexts(items)
    case 'code':
      return typeof code === 'string'
    case 'json':
      return typeof inner === 'object' && inner !== null
    default:
      return false
  }
}

function plainPayload(payload: Payload): PlainArguments {
  switch (payload.syntax) {
    case 'text':
      return payload.text
    case 'list':
      return payload.items
    case 'code':
      return { code: payload.code, ...(payload.stdin === undefined ? {} : { stdin: payload.stdin }) }
    case 'json':
      return payload.value as Record<string, Json>
  }
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string')
}
