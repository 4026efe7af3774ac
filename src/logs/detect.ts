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

/**
 * The records of a value in the format that recognizes it: the value itself, or its elements if it is a list of records.
 * A list may also be under one key, as in `{ "data": […] }`.
 */
export function recordsIn(
  { value, where }: LogRecord,
  format?: LogFormat,
): { records: LogRecord[]; format: LogFormat | undefined } {
  const recognizes = (one: unknown): LogFormat | undefined =>
    format === undefined ? formatOf(one) : format.matches(one) ? format : undefined
  const whole = recognizes(value)
  if (whole !== undefined) return { records: [{ value, where }], format: whole }
  for (const list of listsIn(value)) {
    const found = recognizes(list[0])
    if (found !== undefined)
      return {
        records: list.map((one, index) => ({ value: one, where: `${where}#${index + 1}` })),
        format: found,
      }
  }
  // A format that was asked for gets everything, so that its own error says what is missing.
  return { records: [{ value, where }], format }
}

function* listsIn(value: unknown): Generator<readonly unknown[]> {
  if (Array.isArray(value)) yield value
  else if (typeof value === 'object' && value !== null)
    for (const child of Object.values(value)) if (Array.isArray(child) && child.length > 0) yield child
}
