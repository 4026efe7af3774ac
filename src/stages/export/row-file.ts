import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { z } from 'zod'
import { sha256OfFile } from '../../base/digests/index.ts'
import { Draft, LineWriter } from '../../base/files/index.ts'
import { ParquetRowWriter, type ParquetType, readJsonLines, readParquetRows } from '../../store/index.ts'
import type { Row } from './format.ts'

export const ExportedFile = z.object({
  name: z.string(),
  rows: z.number().int(),
  bytes: z.number().int(),
  sha256: z.string(),
})
export type ExportedFile = z.infer<typeof ExportedFile>

/** A data file being written under a temporary name. */
export interface RowFile {
  write: (row: Row) => void
  /** Closes the file under its temporary name. */
  finish: () => ExportedFile
  /** Renames it to its final name. */
  publish: () => void
  discard: () => void
}

export function createRowFile(path: string, columns: Record<string, ParquetType> | undefined): RowFile {
  const draft = new Draft(path)
  const lines = columns === undefined ? new LineWriter(draft.path) : undefined
  const parquet = columns === undefined ? undefined : new ParquetRowWriter(draft.path, columns)
  let rows = 0
  return {
    write: (row) => {
      const text = JSON.stringify(row)
      lines?.write(`${text}\n`)
      // The length only affects the size of row groups, so that of the JSON text is good enough.
      parquet?.write(row, text.length)
      rows += 1
    },
    finish: () => {
      lines?.finish()
      parquet?.finish()
      return {
        name: basename(path),
        rows,
        bytes: statSync(draft.path).size,
        sha256: sha256OfFile(draft.path),
      }
    },
    publish: () => draft.publish(),
    discard: () => {
      lines?.abandon()
      draft.discard()
    },
  }
}

/** The rows of a data file as a trainer reads them. */
export async function* readRows(
  path: string,
  columns: Record<string, ParquetType> | undefined,
): AsyncGenerator<Row> {
  if (columns === undefined) for (const { value } of readJsonLines(path)) yield value as Row
  else for await (const { values } of readParquetRows(path)) yield values
}
