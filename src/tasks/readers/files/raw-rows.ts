import { UsageError } from '../../../base/errors/index.ts'
import { readText } from '../../../base/reading/index.ts'
import { readParquetRows } from '../../../store/index.ts'
import { jsonItems } from './json-items.ts'
import { jsonLines } from './json-lines.ts'
import type { RawRow } from './raw-row.ts'
import { separatedValues } from './separated-values.ts'

export interface RawRowOptions {
  /** In a JSON file with one large object, the key of the list of rows. */
  listKey?: string | undefined
  /** Columns of a Parquet file to skip. */
  ignored?: readonly string[] | undefined
}

/** The rows of a local JSON Lines, JSON, CSV, TSV or Parquet file, by its extension; text formats may be gzipped. */
export async function* rawRows(file: string, options: RawRowOptions = {}): AsyncGenerator<RawRow> {
  const kind = /\.(jsonl|ndjson|json|csv|tsv|parquet)(?:\.gz)?$/i.exec(file)?.[1]?.toLowerCase()
  switch (kind) {
    case 'jsonl':
    case 'ndjson':
      return yield* jsonLines(readText(file))
    case 'json':
      return yield* jsonItems(readText(file), options.listKey)
    case 'csv':
      return yield* separatedValues(readText(file), ',')
    case 'tsv':
      return yield* separatedValues(readText(file), '\t')
    case 'parquet':
      for await (const { number, values } of readParquetRows(file, without(options.ignored ?? []))) {
        yield { line: number, values }
      }
      return
    default:
      throw new UsageError(`unknown file type: ${file}`, {
        fix: 'Use a .jsonl, .json, .csv, .tsv or .parquet file; text formats may end in .gz.',
      })
  }
}

const without = (ignored: readonly string[]) => (names: readonly string[]) =>
  names.filter((name) => !ignored.includes(name))
