import type { ColumnMetaData, RowGroup } from 'hyparquet'
import { parquetHeader } from 'hyparquet/src/column.js'
import { UsageError } from '../base/errors/index.ts'
import type { OpenParquet } from './parquet-open.ts'

/**
 * Per row group, which is held in memory as a whole. A file of a few kilobytes can declare sizes of many gigabytes,
 * and run-length encoding turns a few bytes into any number of values.
 */
const MAX_BYTES = 512 * 2 ** 20
const MAX_VALUES = 32_000_000

/**
 * Rejects a row group that would not fit in memory, based on its page headers, which the decompressors enforce. The
 * totals in the file metadata are not trusted.
 */
export async function checkRowGroup(
  file: string,
  { buffer }: OpenParquet,
  group: RowGroup,
  columns: readonly string[],
): Promise<void> {
  const wanted = new Set(columns)
  let bytes = 0
  let values = 0
  for (const { meta_data: column } of group.columns) {
    if (column === undefined || !wanted.has(column.path_in_schema[0] ?? '')) continue
    for (const page of await pagesOf(buffer, column)) {
      bytes += page.bytes
      values += page.values
      if (bytes <= MAX_BYTES && values <= MAX_VALUES) continue
      const size =
        bytes > MAX_BYTES ? `more than ${MAX_BYTES / 2 ** 20} MB` : `more than ${MAX_VALUES} values`
      throw new UsageError(`a row group of ${file} decompresses to ${size}`, {
        fix: 'Write the file with smaller row groups, such as 10,000 rows each.',
      })
    }
  }
}

/** The decompressed size of each page of a column. */
async function pagesOf(
  buffer: OpenParquet['buffer'],
  column: ColumnMetaData,
): Promise<{ bytes: number; values: number }[]> {
  const start = Number(column.dictionary_page_offset || column.data_page_offset)
  const end = start + Number(column.total_compressed_size)
  if (!(start >= 0 && end >= start && end <= buffer.byteLength))
    throw new Error('a column is outside the file')
  const reader = { view: new DataView(await buffer.slice(start, end)), offset: 0 }
  const pages: { bytes: number; values: number }[] = []
  // As in the library: the last byte cannot start a page.
  while (reader.offset < reader.view.byteLength - 1) {
    const header = parquetHeader(reader)
    const content = header.data_page_header ?? header.data_page_header_v2 ?? header.dictionary_page_header
    const { compressed_page_size: packed, uncompressed_page_size: bytes } = header
    const values = content?.num_values ?? 0
    if (!(packed >= 0 && bytes >= 0 && values >= 0)) throw new Error('a page has a negative size')
    pages.push({ bytes, values })
    reader.offset += packed
  }
  return pages
}
