import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { flatten, type ResolvedConfig, type Sections, settingsOf } from './resolve.ts'

/** A setting that is not taken from a run: the user has to provide it. */
interface Withheld {
  key: string
  value: unknown
  /** Whether results depend on it; otherwise something is only missing. */
  decides: boolean
}

export interface RunValues {
  /** By dotted key. */
  taken: [key: string, value: unknown][]
  /** Settings that the user has not set and that differ from the defaults. */
  withheld: Withheld[]
}

/**
 * Which settings of a run folder may be used. The run may come from someone else, so only numbers, choices and plain
 * names are trusted. Whatever makes coa run code, read files or send data somewhere must come from the user: code,
 * paths, URLs, hosts and variable names are withheld, as is any text without an annotation in the schema.
 */
export function valuesFromRun<S extends Sections>(
  schema: S,
  table: Record<string, unknown>,
  own: ResolvedConfig<z.infer<S>>,
  file: string,
): RunValues {
  const schemas = settingsOf(schema)
  const result: RunValues = { taken: [], withheld: [] }
  for (const [key, value] of flatten(table, file)) {
    const trust = trustOf(schemas.get(key))
    if (trust === 'always') result.taken.push([key, value])
    else if (trust === 'names') {
      const names = plainPart(value)
      if (names !== undefined) result.taken.push([key, names])
      if (!isDeepStrictEqual(names, value)) withhold(key, value, true)
    } else if (trust === 'asked') withhold(key, value, false)
  }
  return result

  function withhold(key: string, value: unknown, decides: boolean): void {
    const [section, name] = key.split('.') as [string, string]
    const mine = (own.config[section] as Record<string, unknown>)[name]
    // Tables parsed from TOML have no prototype, which is not a difference.
    if (own.origins[key] === 'default' && !isDeepStrictEqual(mine, structuredClone(value))) {
      result.withheld.push({ key, value, decides })
    }
  }
}

/** Unknown settings are refused when all settings are merged. */
function trustOf(schema: z.ZodType | undefined): 'always' | 'names' | 'asked' | 'never' {
  const isHarmless =
    schema instanceof z.ZodNumber || schema instanceof z.ZodBoolean || schema instanceof z.ZodEnum
  if (schema === undefined || isHarmless) return 'always'
  const marked = schema.meta()?.['fromRun']
  return marked === 'always' || marked === 'names' || marked === 'never' ? marked : 'asked'
}

/** A name without dots and slashes cannot be a code file, a path or a URL. */
const PLAIN = /^[A-Za-z0-9][A-Za-z0-9_+-]*$/

function isPlain(value: unknown): boolean {
  if (typeof value === 'string') return value === '' || PLAIN.test(value)
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isPlain)
  return typeof value === 'number' || typeof value === 'boolean'
}

/** The plain names in a list; undefined if there are none. */
function plainPart(value: unknown): unknown {
  if (!Array.isArray(value)) return isPlain(value) ? value : undefined
  const plain = value.filter(isPlain)
  return plain.length === 0 && value.length > 0 ? undefined : plain
}
