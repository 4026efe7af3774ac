import { jsonrepair } from 'jsonrepair'
import type { z } from 'zod'
import { parseJson } from '../../../schema/index.ts'
import type { ParsedPayload, PayloadProblem } from './types.ts'

/** jsonrepair can take quadratic time, and repairs are meant for small slips: longer bodies are rejected. */
const LONGEST_REPAIR = 8_192

/**
 * No tool needs deeper nesting. With unclosed brackets, JSON.parse takes 22 times as long for 8 times the text, and code
 * that recurses into a deep value overflows the stack.
 */
const DEEPEST = 1_000

export function parseJsonPayload(body: string, schema: z.ZodType | null): ParsedPayload {
  const text = withoutFence(body)
  const problems: PayloadProblem[] = []
  if (isTooDeep(text)) {
    const message = `the payload is nested more than ${DEEPEST} levels deep`
    return { payload: undefined, problems: [{ code: 'broken-json', message, repair: null }] }
  }
  let value = attempt(() => parseJson(text))
  if (!isObject(value)) {
    value = text.length > LONGEST_REPAIR ? undefined : attempt(() => parseJson(jsonrepair(text)))
    const isRepaired = isObject(value)
    problems.push({
      code: 'broken-json',
      message: 'the payload is not a JSON object',
      repair: isRepaired ? `read as ${excerpt(JSON.stringify(value))}` : null,
    })
  }
  if (!isObject(value)) return { payload: undefined, problems }
  const message = schema === null ? null : mismatch(schema, value)
  if (message !== null) {
    return { payload: undefined, problems: [...problems, { code: 'schema-mismatch', message, repair: null }] }
  }
  return { payload: { syntax: 'json', value }, problems }
}

/** Counts brackets outside strings; the text need not be valid JSON. */
function isTooDeep(text: string): boolean {
  let depth = 0
  let isString = false
  for (let at = 0; at < text.length && depth <= DEEPEST; at++) {
    const character = text[at]
    if (isString) {
      if (character === '\\') at++
      else if (character === '"') isString = false
    } else if (character === '"') isString = true
    else if (character === '{' || character === '[') depth++
    else if (character === '}' || character === ']') depth--
  }
  return depth > DEEPEST
}

/** How a value violates a schema; null if it does not. */
function mismatch(schema: z.ZodType, value: unknown): string | null {
  const result = attempt(() => schema.safeParse(value))
  if (result === undefined) return 'the payload is nested too deeply to validate'
  if (result.success) return null
  return result.error.issues
    .map((issue) => `${issue.path.join('.') || 'payload'}: ${issue.message}`)
    .join('; ')
}

export function renderJson(value: Record<string, unknown>): string {
  return JSON.stringify(value)
}

/** Some models put their JSON in a fenced block, which is accepted. */
function withoutFence(body: string): string {
  const trimmed = body.trim()
  if (!trimmed.startsWith('```') || !trimmed.endsWith('```')) return trimmed
  const newline = trimmed.indexOf('\n')
  return newline === -1 || trimmed.length < 6 ? trimmed : trimmed.slice(newline + 1, -3).trim()
}

/** jsonrepair and deep recursion may throw on hostile input, which counts as unparseable. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function excerpt(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}…` : text
}
