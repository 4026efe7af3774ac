import type { ColumnMetaData, RowGroup } from 'hyparquet'
import { parquetHeader } from 'hyparquet/src/column.js'
import { UsageError } from '../base/errors/index.ts'
import type { OpenParquet } from './parquet-open.ts'

/**
 * Of one row group, which is in memory as a whole. A file of some kilobytes can name sizes of many gigabytes, and runs of
 * one value make any number of values out of a few bytes.
 */
const MOST_BYTES = 512 * 2 ** 20
const MOST_VALUES = 32_000_000

/**
 * Refuses a row group that would not fit the memory, by what its page headers say; the decompressors hold the pages to
 * that. The file's own sums are not asked: nothing makes them true.
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
      if (bytes <= MOST_BYTES && values <= MOST_VALUES) continue
      const much =
        bytes > MOST_BYTES ? `more than ${MOST_BYTES / 2 ** 20} MB` : `more than ${MOST_VALUES} values`
      throw new UsageError(`a row group of ${file} unpacks to ${much}`, {
        fix: 'Write the file with smaller row groups, such as 10,000 rows each.',
      })
    }
  }
}

/** What each page of a column will become. */
async function pagesOf(
  buffer: OpenParquet['buffer'],
  column: ColumnMetaData,
): Promise<{ bytes: number; values: number }[]> {
  const start = Number(column.dictionary_page_offset || column.data_page_offset)
  const end = start + Number(column.total_compressed_size)
  if (!(start >= 0 && end >= start && end <= buffer.byteLength))
    throw new Error('a column is outside of the file')
  const reader = { view: new DataView(await buffer.slice(start, end)), offset: 0 }
  const pages: { bytes: number; values: number }[] = []
  // As the library reads: the last byte cannot begin a page.
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
