import { Problem } from '../problem.ts'
import type { Value } from './extract.ts'

const MOST_ROWS = 500
const ROWS = 100

/** The query of a request; every value is text. */
export class Query {
  readonly #values: Readonly<Record<string, string>>

  constructor(values: Readonly<Record<string, string>>) {
    this.#values = values
  }

  text(name: string): string | undefined {
    const value = this.#values[name]
    return value === undefined || value === '' ? undefined : value
  }

  required(name: string): string {
    const value = this.text(name)
    if (value === undefined) throw new Problem(400, `the query needs "${name}"`)
    return value
  }

  words(name: string): string[] {
    return this.required(name).split(',')
  }

  choice<T extends string>(name: string, choices: readonly T[]): T | undefined {
    const value = this.text(name)
    if (value === undefined || (choices as readonly string[]).includes(value)) return value as T | undefined
    throw new Problem(400, `"${name}" is one of ${choices.join(', ')}`)
  }

  whole(name: string): number | undefined {
    const value = this.text(name)
    if (value === undefined) return undefined
    if (!/^\d{1,15}$/.test(value)) throw new Problem(400, `"${name}" is not a whole number`)
    return Number(value)
  }

  get limit(): number {
    return Math.max(1, Math.min(MOST_ROWS, this.whole('limit') ?? ROWS))
  }

  /** Where the page before ended. */
  get cursor(): readonly Value[] | undefined {
    const text = this.text('cursor')
    if (text === undefined) return undefined
    try {
      const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
      if (Array.isArray(value) && value.every((part) => ['number', 'string'].includes(typeof part)))
        return value
    } catch {
      // As below.
    }
    throw new Problem(400, 'the cursor is not one that this server gave')
  }
}

export function cursorOf(...values: readonly Value[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url')
}
