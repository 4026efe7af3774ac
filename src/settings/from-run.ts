import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { flatten, type ResolvedConfig, type Sections, settingsOf } from './resolve.ts'

/** A setting that is not taken from a run: the user has to give it again. */
interface Withheld {
  key: string
  value: unknown
  /** Without it the work would be another one; otherwise something is only missing. */
  decides: boolean
}

export interface RunValues {
  /** By dotted key. */
  taken: [key: string, value: unknown][]
  /** Those that the user's own settings say nothing about, and that differ from what they are without the run. */
  withheld: Withheld[]
}

/**
 * What the settings in a run folder may decide. Somebody else may have made the run, so it gives numbers, choices and
 * plain names. Whatever makes coa run code, read files, or send something somewhere has to be the user's own word:
 * code, paths, addresses, hosts and names of variables are withheld, as is every text that the schema says nothing about.
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
    // Tables read from TOML have no prototype, which alone is no difference.
    if (own.origins[key] === 'default' && !isDeepStrictEqual(mine, structuredClone(value))) {
      result.withheld.push({ key, value, decides })
    }
  }
}

/** Unknown settings are refused by whoever puts them all together. */
function trustOf(schema: z.ZodType | undefined): 'always' | 'names' | 'asked' | 'never' {
  const isHarmless =
    schema instanceof z.ZodNumber || schema instanceof z.ZodBoolean || schema instanceof z.ZodEnum
  if (schema === undefined || isHarmless) return 'always'
  const marked = schema.meta()?.['fromRun']
  return marked === 'always' || marked === 'names' || marked === 'never' ? marked : 'asked'
}

/** A name has no dot and no slash, so it is no file with code, no folder elsewhere and no address. */
const PLAIN = /^[A-Za-z0-9][A-Za-z0-9_+-]*$/

function isPlain(value: unknown): boolean {
  if (typeof value === 'string') return value === '' || PLAIN.test(value)
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isPlain)
  return typeof value === 'number' || typeof value === 'boolean'
}

/** Of a list what consists of plain names; undefined where nothing does. */
function plainPart(value: unknown): unknown {
  if (!Array.isArray(value)) return isPlain(value) ? value : undefined
  const plain = value.filter(isPlain)
  return plain.length === 0 && value.length > 0 ? undefined : plain
}
