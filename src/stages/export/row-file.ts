import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { basename } from 'node:path'
import { z } from 'zod'
import { sha256OfFile } from '../../base/digests/index.ts'
import { ParquetRowWriter, type ParquetType, readParquetRows } from '../../store/index.ts'
import type { Row } from './format.ts'
import { readJsonLines } from './json-lines.ts'

export const ExportedFile = z.object({
  name: z.string(),
  rows: z.number().int(),
  bytes: z.number().int(),
  sha256: z.string(),
})
export type ExportedFile = z.infer<typeof ExportedFile>

/** A data file under way. It has its name only once it is complete. */
export interface RowFile {
  write: (row: Row) => void
  /** Closes the file under its temporary name. */
  finish: () => ExportedFile
  /** Gives it its name. */
  publish: () => void
  discard: () => void
}

const BUFFERED = 1024 * 1024

export function createRowFile(path: string, columns: Record<string, ParquetType> | undefined): RowFile {
  const part = `${path}.part`
  const sink = columns === undefined ? jsonLinesSink(part) : parquetSink(part, columns)
  let rows = 0
  return {
    write: (row) => {
      sink.write(row)
      rows += 1
    },
    finish: () => {
      sink.finish()
      return { name: basename(path), rows, bytes: statSync(part).size, sha256: sha256OfFile(part) }
    },
    publish: () => renameSync(part, path),
    discard: () => {
      sink.close()
      rmSync(part, { force: true })
    },
  }
}

interface Sink {
  write: (row: Row) => void
  finish: () => void
  close: () => void
}

function jsonLinesSink(path: string): Sink {
  let file: number | undefined = openSync(path, 'w')
  let buffered = ''
  const flush = (): void => {
    const bytes = Buffer.from(buffered, 'utf8')
    for (let at = 0; at < bytes.length; ) at += writeSync(file!, bytes, at)
    buffered = ''
  }
  const close = (): void => {
    if (file !== undefined) closeSync(file)
    file = undefined
  }
  return {
    write: (row) => {
      buffered += `${JSON.stringify(row)}\n`
      if (buffered.length >= BUFFERED) flush()
    },
    finish: () => {
      flush()
      fsyncSync(file!)
      close()
    },
    close,
  }
}

function parquetSink(path: string, columns: Record<string, ParquetType>): Sink {
  const writer = new ParquetRowWriter(path, columns)
  return {
    // Only the size of row groups depends on the length, so that of the JSON text will do.
    write: (row) => writer.write(row, JSON.stringify(row).length),
    finish: () => {
      writer.finish()
      const file = openSync(path, 'r')
      fsyncSync(file)
      closeSync(file)
    },
    close: () => {},
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
