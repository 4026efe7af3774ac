import { parquetWriteFile, type SchemaElement } from 'hyparquet-writer'

/** The type of a column: lists and objects nest. */
export type ColumnSpec = 'string' | 'integer' | [ColumnSpec] | { [field: string]: ColumnSpec }

/** Writes rows to a Parquet file with nested columns, in the layout of other tools. */
export function writeParquetRows(
  path: string,
  columns: Record<string, ColumnSpec>,
  rows: readonly Record<string, unknown>[],
  more: Partial<Omit<Parameters<typeof parquetWriteFile>[0], 'filename' | 'columnData'>> = {},
): void {
  const names = Object.keys(columns)
  const schema: SchemaElement[] = [
    { name: 'schema', num_children: names.length },
    ...names.flatMap((name) => elements(name, columns[name]!)),
  ]
  const columnData = names.map((name) => ({ name, data: rows.map((row) => row[name] ?? null) }))
  parquetWriteFile({ filename: path, columnData, schema, ...more })
}

function elements(name: string, spec: ColumnSpec): SchemaElement[] {
  if (spec === 'string') {
    return [{ name, type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' }]
  }
  if (spec === 'integer') return [{ name, type: 'INT64', repetition_type: 'OPTIONAL' }]
  if (Array.isArray(spec)) {
    return [
      { name, repetition_type: 'OPTIONAL', num_children: 1, converted_type: 'LIST' },
      { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
      ...elements('element', spec[0]),
    ]
  }
  const fields = Object.entries(spec)
  return [
    { name, repetition_type: 'OPTIONAL', num_children: fields.length },
    ...fields.flatMap(([field, inner]) => elements(field, inner)),
  ]
}
