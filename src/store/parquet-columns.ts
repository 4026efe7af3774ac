import { z } from 'zod'
import { type RecordKind, recordSchemas } from '../schema/index.ts'

/**
 * How a record field is stored in a Parquet column. Nested values are stored as JSON text, which every reader
 * supports.
 */
export interface Column {
  name: string
  form: 'string' | 'integer' | 'number' | 'boolean' | 'json'
  /** An absent field is stored as null. */
  optional: boolean
  /** The column may be missing from an imported file: the field is optional or has a default. */
  mayBeMissing: boolean
}

/**
 * Parquet strings are UTF-8, which cannot represent a lone surrogate. A record that has one in a plain column stores
 * its exact fields as JSON text in this extra column, which exists only if some record needs it.
 */
export const EXACT_COLUMN = 'coa_exact'

interface JsonSchema {
  type?: string
  const?: unknown
  properties?: Record<string, JsonSchema>
  required?: string[]
}

const cache = new Map<RecordKind, readonly Column[]>()

/** The columns of a kind, derived from its schema. */
export function columnsOf(kind: RecordKind): readonly Column[] {
  let columns = cache.get(kind)
  if (columns === undefined) {
    const output = z.toJSONSchema(recordSchemas[kind], { io: 'output' }) as JsonSchema
    const input = z.toJSONSchema(recordSchemas[kind], { io: 'input' }) as JsonSchema
    columns = Object.entries(output.properties ?? {}).map(([name, property]) => ({
      name,
      form: formOf(property),
      optional: !output.required?.includes(name),
      mayBeMissing: !input.required?.includes(name),
    }))
    cache.set(kind, columns)
  }
  return columns
}

function formOf(property: JsonSchema): Column['form'] {
  switch (property.type) {
    case 'string':
    case 'boolean':
    case 'integer':
      return property.type
    case 'number':
      return Number.isInteger(property.const) ? 'integer' : 'number'
    default:
      return 'json'
  }
}
