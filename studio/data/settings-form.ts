import type { SettingsForm, SettingValues } from '../../src/studio/api.ts'

/** One setting as a field of a form. */
export interface Field {
  /** Such as `rl.steps`. */
  key: string
  description: string | undefined
  kind: 'boolean' | 'integer' | 'number' | 'text' | 'list'
  /** The values it can have, if they are few. */
  options: string[] | undefined
}

interface Schema {
  type?: string | string[]
  properties?: Record<string, Schema>
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  items?: Schema
  description?: string
}

/** The fields of these sections; settings that are tables themselves are for coa.toml. */
export function fieldsOf(
  form: SettingsForm,
  sections: readonly string[],
): { section: string; fields: Field[] }[] {
  const { properties = {} } = form.schema as Schema
  return sections.flatMap((section) => {
    const settings = properties[section]?.properties ?? {}
    const fields = Object.entries(settings).flatMap(
      ([name, schema]) => fieldOf(`${section}.${name}`, schema) ?? [],
    )
    return fields.length === 0 ? [] : [{ section, fields }]
  })
}

function fieldOf(key: string, schema: Schema): Field | undefined {
  const { description } = schema
  const choices = choicesOf(schema)
  if (choices !== undefined) return { key, description, kind: 'text', options: choices }
  const types = [schema, ...(schema.anyOf ?? [])].flatMap(({ type }) => type ?? [])
  const kind = types.includes('boolean')
    ? 'boolean'
    : types.includes('string')
      ? 'text'
      : types.includes('integer')
        ? 'integer'
        : types.includes('number')
          ? 'number'
          : types.includes('array') && !/object/.test(JSON.stringify(schema.items ?? {}))
            ? 'list'
            : undefined
  return kind === undefined ? undefined : { key, description, kind, options: undefined }
}

function choicesOf(schema: Schema): string[] | undefined {
  if (schema.enum !== undefined) return schema.enum.map(String)
  const parts = schema.anyOf ?? []
  if (parts.length > 0 && parts.every((part) => part.const !== undefined || part.enum !== undefined))
    return parts.flatMap((part) => part.enum?.map(String) ?? [String(part.const)])
  return undefined
}

/** What was typed, as values; a number that is none stays as it is, and the server says what is wrong. */
export function valuesOf(fields: readonly Field[], typed: ReadonlyMap<string, string>): SettingValues {
  const values: SettingValues = {}
  for (const { key, kind } of fields) {
    const text = typed.get(key)
    if (text === undefined || text === '') continue
    const number = Number(text)
    if (kind === 'boolean') values[key] = text === 'true'
    else if (kind === 'list') values[key] = text.split(',').map((part) => part.trim())
    else if ((kind === 'integer' || kind === 'number') && !Number.isNaN(number)) values[key] = number
    else values[key] = text
  }
  return values
}

export function shownValue(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (Array.isArray(value)) return value.join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
