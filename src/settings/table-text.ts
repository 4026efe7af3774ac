import { z } from 'zod'
import { parseToml } from './toml.ts'

/** Whether a setting is a table, such as teach.dials = { slip = 0.2, doubt = 0 }. */
export function isTable(schema: z.ZodType | undefined): schema is z.ZodRecord | z.ZodObject {
  return schema instanceof z.ZodRecord || schema instanceof z.ZodObject
}

/**
 * Parses a table written as "slip=0.2,doubt=0", as on the command line. A value with several parts fills a list
 * ("search=2..3") or a table ("team=3/15") in order. What cannot be parsed stays text, which the schema then refuses.
 */
export function tableFromText(text: string, schema: z.ZodRecord | z.ZodObject): unknown {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '')
  // A name may hold an equals sign; a value does not.
  const split = pairs.map((pair) => /^(.+)=(.*)$/s.exec(pair)?.map((part) => part.trim()))
  if (split.includes(undefined)) return text
  const schemaOf = (name: string): unknown =>
    schema instanceof z.ZodRecord ? schema.valueType : schema.shape[name]
  return Object.fromEntries(
    split.map(([, name, value] = []) => [name!, valueFromText(value!, schemaOf(name!))]),
  )
}

function valueFromText(text: string, schema: unknown): unknown {
  if (schema instanceof z.ZodString) return text
  if (schema instanceof z.ZodObject) {
    const names = Object.keys(schema.shape)
    return Object.fromEntries(text.split('/').map((part, at) => [names[at] ?? part, numberOr(part)]))
  }
  const parts = text.split('..')
  return parts.length === 1 ? numberOr(text) : parts.map(numberOr)
}

const numberOr = (text: string): number | string =>
  text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text)

/** Parses a value in TOML syntax, such as { math = 1 } or [0.1, 0.9]; undefined for other syntax. */
export function tomlFromText(text: string): unknown {
  return /^\s*[[{]/.test(text) ? parseToml(`value = ${text}`, text)['value'] : undefined
}

/** A value in inline TOML syntax. */
export function inlineToml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inlineToml).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const pairs = Object.entries(value).map(
    ([name, inner]) => `${/^[\w-]+$/.test(name) ? name : JSON.stringify(name)} = ${inlineToml(inner)}`,
  )
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`
}
