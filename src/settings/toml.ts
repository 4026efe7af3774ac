import { readFileSync } from 'node:fs'
import { parse, stringify, TomlError } from 'smol-toml'
import { ConfigError, redact } from '../base/errors/index.ts'

/** Reads a TOML file; a syntax error names file, line and column. */
export function readToml(file: string): Record<string, unknown> {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    throw new ConfigError(`cannot read ${file}`, {
      cause,
      fix: 'Check that the file exists and is readable.',
    })
  }
  return parseToml(text, file)
}

export function parseToml(text: string, label: string): Record<string, unknown> {
  try {
    return parse(text)
  } catch (cause) {
    const where = cause instanceof TomlError ? `${label}:${cause.line}:${cause.column}` : label
    const reason = (cause as Error).message.split('\n')[0]
    throw new ConfigError(`${where} is not valid TOML: ${reason}`, {
      cause,
      fix: 'Fix the line and try again.',
    })
  }
}

/** Settings as TOML for storage: keys, and passwords in URLs, are redacted. */
export function writeToml(value: object): string {
  return stringify(redactedValues(value) as Record<string, unknown>)
}

function redactedValues(value: unknown): unknown {
  if (typeof value === 'string') return redact(value)
  if (Array.isArray(value)) return value.map(redactedValues)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, redactedValues(inner)]))
}
