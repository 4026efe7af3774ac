import { parseJson } from '../../schema/index.ts'
import { isObject } from './files/raw-row.ts'

/** A row that cannot become a task. The reader turns it into a report. */
export class RowProblem extends Error {}

/** A valid row that is skipped on purpose, such as one with an image. */
export class RowSkipped extends Error {}

/**
 * Access to a row's fields by name. Copies of a data set differ in case and spaces (`Final answer`, `final_answer`), so
 * these are ignored. Several names are alternatives: the first one with a value wins.
 */
export class Row {
  readonly #values = new Map<string, unknown>()

  constructor(values: Record<string, unknown>) {
    for (const [name, value] of Object.entries(values)) this.#values.set(normalizedName(name), value)
  }

  /** Undefined if the field is missing, null or an empty string. */
  value(...names: string[]): unknown {
    for (const name of names) {
      const value = this.#values.get(normalizedName(name))
      if (value !== undefined && value !== null && value !== '') return value
    }
    return undefined
  }

  /** A string, or a number or boolean as a string. */
  optionalText(...names: string[]): string | undefined {
    const value = this.value(...names)
    if (typeof value === 'string') return value.trim() === '' ? undefined : value
    return typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint'
      ? String(value)
      : undefined
  }

  text(...names: string[]): string {
    const text = this.optionalText(...names)
    if (text === undefined) throw new RowProblem(`it has no ${names.join(' or ')}`)
    return text
  }

  optionalNumber(...names: string[]): number | undefined {
    const text = this.optionalText(...names)
    const number = text === undefined ? Number.NaN : Number(text)
    return Number.isFinite(number) ? number : undefined
  }

  /** An object or its JSON text; empty if there is none. */
  object(...names: string[]): Record<string, unknown> {
    const value = unpacked(this.value(...names))
    return isObject(value) ? value : {}
  }

  /** The strings of a list or of its JSON text, or a single string. Empty strings are dropped. */
  texts(...names: string[]): string[] {
    return textsOf(this.value(...names))
  }
}

export function textsOf(value: unknown): string[] {
  const list = unpacked(value)
  const items = Array.isArray(list) ? list : [list]
  return items.flatMap((item) =>
    (typeof item === 'string' && item.trim() !== '') || typeof item === 'number' ? [String(item)] : [],
  )
}

/** Parses the JSON text of a list or object; returns anything else unchanged. */
export function unpacked(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return parseJson(value)
  } catch {
    return value
  }
}

const normalizedName = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_')
