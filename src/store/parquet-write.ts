import { fileWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer'
import type { RecordKind } from '../schema/index.ts'
import { type Column, columnsOf, EXACT_COLUMN } from './parquet-columns.ts'

/** A row group ends at either limit, which bounds the memory for writing and reading it. */
const GROUP_ROWS = 10_000
const GROUP_CHARACTERS = 16 * 1024 * 1024

type Cell = string | number | bigint | boolean | null
type PlainRecord = Record<string, unknown>
export type OnExportProgress = (progress: { records: number }) => void

/**
 * Writes records to a new Parquet file and returns their number. Few records need the exact column, so the file is
 * rewritten with it when the first one appears; then `records` is called a second time.
 */
export function writeParquet(
  path: string,
  kind: RecordKind,
  records: () => Iterable<object>,
  onProgress?: OnExportProgress,
): number {
  const written = writeFile(path, kind, records() as Iterable<PlainRecord>, false, onProgress)
  return written ?? writeFile(path, kind, records() as Iterable<PlainRecord>, true, onProgress) ?? 0
}

/** Returns undefined if a record needs the exact column and there is none. */
function writeFile(
  path: string,
  kind: RecordKind,
  source: Iterable<PlainRecord>,
  exact: boolean,
  onProgress: OnExportProgress | undefined,
): number | undefined {
  const columns = columnsOf(kind)
  const schema = parquetSchema(columns, exact)
  // No statistics: the writer sorts strings by UTF-16 units where Parquet requires bytes, and readers would trust it.
  const writer = new ParquetWriter({
    writer: fileWriter(path),
    schema,
    statistics: false,
    kvMetadata: [{ key: 'coa.kind', value: kind }],
  })
  const group = new Map<string, Cell[]>(schema.slice(1).map(({ name }) => [name, []]))
  let rows = 0
  let characters = 0
  let records = 0
  const flush = () => {
    if (rows === 0) return
    const columnData = [...group].map(([name, data]) => ({ name, data }))
    writer.write({ columnData, rowGroupSize: rows })
    for (const name of group.keys()) group.set(name, [])
    rows = 0
    characters = 0
    onProgress?.({ records })
  }
  for (const record of source) {
    const inexact = columns.filter(({ name, form }) => form === 'string' && isIllFormed(record[name]))
    if (inexact.length > 0 && !exact) return undefined
    for (const column of columns) {
      const cell = toCell(column, record[column.name])
      group.get(column.name)?.push(cell)
      if (typeof cell === 'string') characters += cell.length
    }
    const fields = Object.fromEntries(inexact.map(({ name }) => [name, record[name]]))
    group.get(EXACT_COLUMN)?.push(inexact.length === 0 ? null : JSON.stringify(fields))
    rows += 1
    records += 1
    if (rows >= GROUP_ROWS || characters >= GROUP_CHARACTERS) flush()
  }
  flush()
  writer.finish()
  return records
}

function isIllFormed(value: unknown): boolean {
  return typeof value === 'string' && !value.isWellFormed()
}

function toCell({ form }: Column, value: unknown): Cell {
  if (value === undefined) return null
  if (form === 'integer') return BigInt(value as number)
  if (form === 'json') return JSON.stringify(value)
  return value as Cell
}

const elements = {
  string: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  json: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  integer: { type: 'INT64' },
  number: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
} as const

function parquetSchema(columns: readonly Column[], exact: boolean): SchemaElement[] {
  const fields = columns.map(({ name, form, optional }): SchemaElement => {
    return { name, ...elements[form], repetition_type: optional ? 'OPTIONAL' : 'REQUIRED' }
  })
  if (exact) fields.push({ name: EXACT_COLUMN, ...elements.json, repetition_type: 'OPTIONAL' })
  return [{ name: 'root', num_children: fields.length }, ...fields]
}
