import { z } from 'zod'
import { ConfigError, nearestName } from '../base/errors/index.ts'
import { inlineToml, isTable, tableFromText, tomlFromText } from './table-text.ts'
import { readToml } from './toml.ts'

export interface ConfigSources {
  /** TOML files, or values by dotted key from one; later ones take precedence. */
  files?: readonly SettingsFile[]
  /** Variables such as COA_PROJECT_RUNS for project.runs. */
  environment?: Record<string, string | undefined>
  /** Values by dotted key, from the command line. They take precedence over everything else. */
  flags?: Record<string, unknown>
}

/** A file, or selected values from one. */
export type SettingsFile = string | { file: string; values: Iterable<[key: string, value: unknown]> }

type Origin = 'default' | 'file' | 'environment' | 'flag'

export interface ResolvedConfig<T> {
  config: T
  /** The origin of each value, by dotted key. */
  origins: Record<string, Origin>
}

/** Sections of settings, one level deep. */
export type Sections = z.ZodObject<Record<string, z.ZodType>>

/** Merges defaults, files, environment and flags, in this order, and validates the result. */
export function resolveConfig<S extends Sections>(
  schema: S,
  sources: ConfigSources,
): ResolvedConfig<z.infer<S>> {
  const keys = settingsOf(schema)
  const merged: Record<string, Record<string, unknown>> = {}
  const origins: Record<string, Origin> = Object.fromEntries([...keys.keys()].map((key) => [key, 'default']))
  const put = (key: string, value: unknown, origin: Origin): void => {
    const [section, name] = key.split('.') as [string, string]
    merged[section] = { ...merged[section], [name]: value }
    origins[key] = origin
  }
  const fileOf = new Map<string, string>()
  for (const source of sources.files ?? []) {
    const { file, values } =
      typeof source === 'string' ? { file: source, values: flatten(readToml(source), source) } : source
    for (const [key, value] of values) {
      refuseUnknown(key, keys, `in ${file}`)
      refuseOldList(key, value, keys.get(key)!, file)
      put(key, value, 'file')
      fileOf.set(key, file)
    }
  }
  const keyVariables = namedVariables(schema, keys, merged, sources)
  for (const [variable, value] of Object.entries(sources.environment ?? {})) {
    if (keyVariables.has(variable)) continue
    const key = keyOfVariable(variable, keys)
    if (key === undefined || value === undefined) continue
    put(key, fromText(value, keys.get(key)!), 'environment')
  }
  for (const [key, value] of Object.entries(sources.flags ?? {})) {
    if (value === undefined) continue
    refuseUnknown(key, keys, 'on the command line')
    put(key, fromFlag(value, keys.get(key)!), 'flag')
  }
  const parsed = schema.safeParse(merged, { reportInput: true })
  if (parsed.success) return { config: parsed.data, origins }
  const issue = parsed.error.issues[0]!
  const key = issue.path.slice(0, 2).join('.')
  const inner = issue.path.slice(2)
  const place = inner.every((part) => typeof part === 'string') ? issue.path.join('.') : key
  const isText = inner.length === 0 && typeof issue.input === 'string' && isTable(keys.get(key))
  const why = isText ? 'it takes pairs such as name=value, with commas between' : issue.message
  throw new ConfigError(`${place} is invalid: ${why}`, {
    fix: `It comes from ${describeOrigin(key, origins[key], fileOf.get(key))}; change it there.`,
  })
}

/** The variables named by settings such as engine.key_env: they contain keys and are not settings. */
function namedVariables(
  schema: Sections,
  keys: ReadonlyMap<string, unknown>,
  merged: Record<string, Record<string, unknown>>,
  { environment = {}, flags = {} }: ConfigSources,
): Set<unknown> {
  const defaults = schema.safeParse({}).data as Record<string, Record<string, unknown>> | undefined
  return new Set(
    [...keys.keys()]
      .filter((key) => key.endsWith('_env'))
      .flatMap((key) => {
        const [section, name] = key.split('.') as [string, string]
        return [
          defaults?.[section]?.[name],
          merged[section]?.[name],
          environment[`COA_${section}_${name}`.toUpperCase()],
          flags[key],
        ]
      })
      .filter((variable) => variable !== undefined),
  )
}

/** Every `section.name` of a schema with the schema of its value. */
export function settingsOf(schema: Sections): Map<string, z.ZodType> {
  const keys = new Map<string, z.ZodType>()
  for (const [section, inner] of Object.entries(schema.shape)) {
    const shape = (unwrap(inner) as z.ZodObject<Record<string, z.ZodType>>).shape
    for (const [name, leaf] of Object.entries(shape)) keys.set(`${section}.${name}`, unwrap(leaf))
  }
  return keys
}

function unwrap(schema: z.ZodType): z.ZodType {
  const wrapped =
    schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional
  return wrapped ? unwrap(schema.unwrap() as z.ZodType) : schema
}

export function* flatten(table: Record<string, unknown>, file: string): Generator<[string, unknown]> {
  for (const [section, value] of Object.entries(table)) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Date) {
      throw new ConfigError(`"${section}" in ${file} is not in any section`, {
        fix: 'Put it under a section header such as [project].',
      })
    }
    for (const [name, inner] of Object.entries(value)) yield [`${section}.${name}`, inner]
  }
}

function refuseUnknown(key: string, keys: ReadonlyMap<string, unknown>, where: string): void {
  if (keys.has(key)) return
  const [section, name] = key.split('.')
  const sections = [...new Set([...keys.keys()].map((known) => known.split('.')[0]!))]
  const inSection = [...keys.keys()]
    .filter((known) => known.startsWith(`${section}.`))
    .map((known) => known.split('.')[1]!)
  // The name may be correct and only its section wrong, or vice versa.
  const elsewhere = [...keys.keys()].find((known) => known.split('.')[1] === name)
  const sameSection = nearestName(name ?? '', inSection)
  const nearest =
    elsewhere ?? (sameSection === undefined ? nearestName(key, keys.keys()) : `${section}.${sameSection}`)
  const list =
    inSection.length > 0
      ? inSection.map((known) => `${section}.${known}`)
      : sections.map((known) => `[${known}]`)
  throw new ConfigError(`unknown setting "${key}" ${where}`, {
    fix: nearest === undefined ? `Known here: ${list.join(', ')}.` : `Did you mean "${nearest}"?`,
  })
}

/** COA_PROJECT_RUNS → project.runs. A misspelled name in a known section is refused; other variables are ignored. */
function keyOfVariable(variable: string, keys: ReadonlyMap<string, unknown>): string | undefined {
  for (const key of keys.keys()) {
    const [section, name] = key.split('.') as [string, string]
    const prefix = `COA_${section.toUpperCase()}_`
    if (!variable.startsWith(prefix)) continue
    if (variable === prefix + name.replaceAll('-', '_').toUpperCase()) return key
    const wanted = `${section}.${variable.slice(prefix.length).toLowerCase()}`
    if (![...keys.keys()].some((known) => known === wanted))
      refuseUnknown(wanted, keys, `from the variable ${variable}`)
  }
  return undefined
}

/** Tables used to be lists of strings such as "math=1". */
function refuseOldList(key: string, value: unknown, schema: z.ZodType, file: string): void {
  if (!isTable(schema) || !Array.isArray(value)) return
  const table = tableFromText(value.join(','), schema)
  throw new ConfigError(`${key} in ${file} is a list but must be a table`, {
    fix: `Write it as ${key.split('.')[1]} = ${typeof table === 'string' ? '{ name = value }' : inlineToml(table)}.`,
  })
}

function fromFlag(value: unknown, schema: z.ZodType): unknown {
  // A repeatable option.
  const text = Array.isArray(value) && isTable(schema) ? value.join(',') : value
  return typeof text === 'string' ? fromText(text, schema) : text
}

/** Parses text from the environment or a flag according to the setting's type. */
function fromText(text: string, schema: z.ZodType): unknown {
  if (isTable(schema)) return tomlFromText(text) ?? tableFromText(text, schema)
  if (schema instanceof z.ZodNumber) return text.trim() === '' ? text : Number(text)
  if (schema instanceof z.ZodBoolean)
    return { true: true, '1': true, false: false, '0': false }[text.toLowerCase()] ?? text
  if (schema instanceof z.ZodArray) {
    const value = tomlFromText(text)
    if (value !== undefined) return value
    const items = text.split(',').map((item) => item.trim())
    const { element } = schema
    return element instanceof z.ZodNumber ? items.map((item) => fromText(item, element)) : items
  }
  return text
}

function describeOrigin(key: string, origin: Origin | undefined, file: string | undefined): string {
  if (origin === 'file') return `${file}`
  if (origin === 'environment') return `the variable COA_${key.replace('.', '_').toUpperCase()}`
  return origin === 'flag' ? 'the command line' : 'the defaults'
}
