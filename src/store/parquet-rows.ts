import { parquetReadObjects } from 'hyparquet'
import { checkRowGroup } from './parquet-limits.ts'
import { compressors, openParquet, parsers, topLevelNames, unreadable } from './parquet-open.ts'

interface ParquetRow {
  /** Starts at 1. */
  number: number
  values: Record<string, unknown>
}

/**
 * Reads the rows of any Parquet file, one row group at a time, as plain values: nested columns become objects and
 * lists, integers become numbers where that is exact, times become ISO strings. For our own records use
 * importParquet, which validates them.
 */
export async function* readParquetRows(
  file: string,
  /** Selects the columns to read; all by default. */
  wanted?: (names: readonly string[]) => readonly string[],
): AsyncGenerator<ParquetRow> {
  const opened = await openParquet(file)
  const { buffer, metadata } = opened
  const names = topLevelNames(metadata)
  const columns = [...(wanted?.(names) ?? names)]
  let rowStart = 0
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows)
    const part = { file: buffer, metadata, columns, rowStart, rowEnd, parsers, compressors }
    const rows = await checkRowGroup(file, opened, group, columns)
      .then(() => parquetReadObjects(part))
      .catch((cause: Error) => {
        throw unreadable(file, cause)
      })
    for (const [position, row] of rows.entries()) {
      yield { number: rowStart + position + 1, values: plain(row) as Record<string, unknown> }
    }
    rowStart = rowEnd
  }
}

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return BigInt(Number(value)) === value ? Number(value) : String(value)
  if (value instanceof Date) return value.toISOString()
  if (ArrayBuffer.isView(value)) return value
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]))
  }
  return value
}
