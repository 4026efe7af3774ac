import { parseJson } from '../../schema/index.ts'
import { isObject } from './files/raw-row.ts'

/** A row that cannot become a task. Never leaves the reader: it turns into a report about the row. */
export class RowProblem extends Error {}

/** A row left out on purpose: nothing is wrong with it, but it is no task for a text-only team. */
export class RowSkipped extends Error {}

/**
 * Access to a row's fields by name. Copies of one data set differ in case and spaces (`Final answer`,
 * `final_answer`), so names are compared without them. Several names are alternatives, the first that has a value wins.
 */
export class Row {
  readonly #values = new Map<string, unknown>()

  constructor(values: Record<string, unknown>) {
    for (const [name, value] of Object.entries(values)) this.#values.set(plainName(name), value)
  }

  /** Undefined where the field is absent, null or an empty text. */
  value(...names: string[]): unknown {
    for (const name of names) {
      const value = this.#values.get(plainName(name))
      if (value !== undefined && value !== null && value !== '') return value
    }
    return undefined
  }

  /** A text, or a number or truth value as text. */
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

  /** An object, or the JSON text of one; empty where there is none. */
  object(...names: string[]): Record<string, unknown> {
    const value = unpacked(this.value(...names))
    return isObject(value) ? value : {}
  }

  /** Texts of a list, of the JSON text of a list, or a single text. Empty ones are left out. */
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

/** What a JSON text of a list or an object holds; anything else as it is. */
export function unpacked(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return parseJson(value)
  } catch {
    return value
  }
}

const plainName = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_')
