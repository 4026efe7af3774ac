import { fileWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer'

/** The type of a column: a plain value, a list, or an object with fields. */
export type ParquetType =
  | 'string'
  | 'integer'
  | 'boolean'
  | { list: ParquetType }
  | { fields: Record<string, ParquetType> }

/** A row group ends at either limit, which bounds the memory for writing and reading it. */
const GROUP_ROWS = 5000
const GROUP_CHARACTERS = 8 * 1024 * 1024

/** Writes rows of any shape to a new Parquet file, holding one row group in memory. Every field is required. */
export class ParquetRowWriter {
  readonly #writer: ParquetWriter
  readonly #columns: Map<string, { type: ParquetType; cells: unknown[] }>
  #rows = 0
  #characters = 0

  constructor(path: string, columns: Record<string, ParquetType>) {
    const schema = [
      { name: 'schema', num_children: Object.keys(columns).length },
      ...Object.entries(columns).flatMap(([name, type]) => elements(name, type)),
    ]
    // No statistics: the writer sorts strings by UTF-16 units where Parquet requires bytes, and readers would trust
    // it.
    this.#writer = new ParquetWriter({ writer: fileWriter(path), schema, statistics: false })
    this.#columns = new Map(Object.entries(columns).map(([name, type]) => [name, { type, cells: [] }]))
  }

  /** `characters` is the approximate amount of text in the row. */
  write(row: Record<string, unknown>, characters: number): void {
    for (const [name, { type, cells }] of this.#columns) cells.push(toCell(type, row[name]))
    this.#rows += 1
    this.#characters += characters
    if (this.#rows >= GROUP_ROWS || this.#characters >= GROUP_CHARACTERS) this.#flush()
  }

  finish(): void {
    this.#flush()
    this.#writer.finish()
  }

  #flush(): void {
    if (this.#rows === 0) return
    const columnData = [...this.#columns].map(([name, { cells }]) => ({ name, data: cells }))
    this.#writer.write({ columnData, rowGroupSize: this.#rows })
    for (const column of this.#columns.values()) column.cells = []
    this.#rows = 0
    this.#characters = 0
  }
}

function toCell(type: ParquetType, value: unknown): unknown {
  if (type === 'integer') return BigInt(value as number)
  if (typeof type === 'string') return value
  if ('list' in type) return (value as unknown[]).map((item) => toCell(type.list, item))
  const fields = value as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(type.fields).map(([name, field]) => [name, toCell(field, fields[name])]),
  )
}

const plain = {
  string: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  integer: { type: 'INT64' },
  boolean: { type: 'BOOLEAN' },
} as const

/** A Parquet schema is listed depth first; a list has three levels by convention. */
function elements(name: string, type: ParquetType): SchemaElement[] {
  const repetition_type = 'REQUIRED'
  if (typeof type === 'string') return [{ name, ...plain[type], repetition_type }]
  if ('list' in type) {
    return [
      { name, converted_type: 'LIST', num_children: 1, repetition_type },
      { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
      ...elements('element', type.list),
    ]
  }
  const fields = Object.entries(type.fields)
  return [
    { name, num_children: fields.length, repetition_type },
    ...fields.flatMap(([field, fieldType]) => elements(field, fieldType)),
  ]
}
