import { basename } from 'node:path'
import { type FileMetaData, parquetReadObjects } from 'hyparquet'
import { UsageError } from '../base/errors/index.ts'
import { parseJson, type RecordKind, type RecordOf } from '../schema/index.ts'
import { type Column, columnsOf, EXACT_COLUMN } from './parquet-columns.ts'
import { checkRowGroup } from './parquet-limits.ts'
import { compressors, openParquet, parsers, topLevelNames, unreadable } from './parquet-open.ts'
import { checkKind, checkRecord } from './validate-record.ts'

/**
 * Reads the records of a Parquet file, one row group at a time, and validates each.
 *
 * @example
 * import { importParquet, openRun } from 'chain-of-agents'
 *
 * using run = openRun('runs/my-run', { write: true })
 * for await (const task of importParquet('tasks.parquet', 'task')) run.append('task', task)
 */
export async function* importParquet<K extends RecordKind>(
  file: string,
  kind: K,
): AsyncGenerator<RecordOf<K>> {
  checkKind(kind)
  const opened = await openParquet(file)
  const { buffer, metadata } = opened
  const columns = presentColumns(metadata, kind, file)
  let rowStart = 0
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows)
    const part = { file: buffer, metadata, rowStart, rowEnd, parsers, compressors }
    const rows = await checkRowGroup(file, opened, group, topLevelNames(metadata))
      .then(() => parquetReadObjects(part))
      .catch((cause: Error) => {
        throw unreadable(file, cause)
      })
    for (const [position, row] of rows.entries()) {
      const where = `row ${rowStart + position + 1} of ${basename(file)}`
      const checked = checkRecord(kind, toRecord(columns, row, where))
      if ('record' in checked) yield checked.record
      else {
        throw new UsageError(`${where} is not a ${kind}: ${checked.problem}`, {
          fix: 'Correct the file, or import it as the kind it was exported from.',
        })
      }
    }
    rowStart = rowEnd
  }
}

/** The columns of the kind that the file has. An unknown or missing column is an error. */
function presentColumns(metadata: FileMetaData, kind: RecordKind, file: string): Column[] {
  const names = new Set(topLevelNames(metadata))
  const columns = columnsOf(kind)
  const known = columns.map((column) => column.name).join(', ')
  const unknown = [...names].find(
    (name) => name !== EXACT_COLUMN && !columns.some((column) => column.name === name),
  )
  if (unknown !== undefined) {
    throw new UsageError(`column ${JSON.stringify(unknown)} of ${basename(file)} is not a field of ${kind}`, {
      fix: `Remove or rename it; the columns of ${kind} are ${known}.`,
      details: { column: unknown },
    })
  }
  const missing = columns.find((column) => !column.mayBeMissing && !names.has(column.name))
  if (missing !== undefined) {
    throw new UsageError(
      `${basename(file)} has no column ${JSON.stringify(missing.name)}, which is required for a ${kind}`,
      {
        fix: `Add it; the columns of ${kind} are ${known}.`,
        details: { column: missing.name },
      },
    )
  }
  return columns.filter((column) => names.has(column.name))
}

function toRecord(columns: Column[], row: Record<string, unknown>, where: string): Record<string, unknown> {
  const record: Record<string, unknown> = {}
  for (const column of columns) {
    const value = fromCell(column, row[column.name], where)
    if (value !== undefined) record[column.name] = value
  }
  const exact = row[EXACT_COLUMN]
  if (typeof exact === 'string') Object.assign(record, parseCell(exact, EXACT_COLUMN, where))
  return record
}

function fromCell({ name, form }: Column, cell: unknown, where: string): unknown {
  if (cell === null || cell === undefined) return undefined
  // An unsafe integer stays a bigint and fails validation instead of being rounded.
  if (typeof cell === 'bigint') return BigInt(Number(cell)) === cell ? Number(cell) : cell
  return form === 'json' ? parseCell(cell, name, where) : cell
}

function parseCell(cell: unknown, column: string, where: string): unknown {
  try {
    if (typeof cell === 'string') return parseJson(cell)
  } catch {}
  throw new UsageError(`column ${JSON.stringify(column)} in ${where} is not JSON text`, {
    fix: 'Nested fields are stored as JSON text: convert lists and structs to JSON before importing.',
    details: { column },
  })
}
