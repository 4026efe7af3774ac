import { readFileSync } from 'node:fs'
import * as zlib from 'node:zlib'
import {
  type AsyncBuffer,
  asyncBufferFromFile,
  type Compressors,
  type FileMetaData,
  parquetMetadataAsync,
} from 'hyparquet'
import { UsageError } from '../base/errors/index.ts'

// The library's own decoder treats a leading U+FEFF as a byte order mark and drops it.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
export const parsers = {
  stringFromBytes: (bytes: Uint8Array | undefined) => bytes && decoder.decode(bytes),
  jsonFromBytes: (bytes: Uint8Array | undefined) => bytes && decoder.decode(bytes),
}

/**
 * The library only supports Snappy. Output is limited to the size in the page header, which checkRowGroup has
 * checked.
 */
export const compressors: Compressors = {
  GZIP: (bytes, length) => zlib.gunzipSync(bytes, { maxOutputLength: atLeastOne(length) }),
  BROTLI: (bytes, length) => zlib.brotliDecompressSync(bytes, { maxOutputLength: atLeastOne(length) }),
  ZSTD: (bytes, length) => zlib.zstdDecompressSync(bytes, { maxOutputLength: atLeastOne(length) }),
}

/** Node does not accept a limit of 0; the library checks the length of the output. */
function atLeastOne(length: number): number {
  return Math.max(1, length)
}

/** Limit for a gzipped file. */
const MAX_UNZIPPED_BYTES = 2 ** 30

export interface OpenParquet {
  buffer: AsyncBuffer
  metadata: FileMetaData
}

/** A gzipped file is held in memory: Parquet is read from the end, gzip only from the start. */
export async function openParquet(file: string): Promise<OpenParquet> {
  try {
    const buffer = file.endsWith('.gz')
      ? inMemory(zlib.gunzipSync(readFileSync(file), { maxOutputLength: MAX_UNZIPPED_BYTES }))
      : await asyncBufferFromFile(file)
    return { buffer, metadata: await parquetMetadataAsync(buffer, { parsers }) }
  } catch (cause) {
    throw unreadable(file, cause as Error)
  }
}

function inMemory(bytes: Buffer): AsyncBuffer {
  return {
    byteLength: bytes.length,
    slice: (start, end) => Uint8Array.from(bytes.subarray(start, end)).buffer,
  }
}

export function unreadable(file: string, cause: Error): UsageError {
  if (cause instanceof UsageError) return cause
  return new UsageError(`cannot read ${file} as Parquet: ${cause.message}`, {
    fix: 'Check that the file exists and is complete.',
    cause,
  })
}

/** The schema is a depth-first list whose first element is the root. */
export function topLevelNames({ schema }: FileMetaData): string[] {
  const names: string[] = []
  let position = 1
  const skip = (): void => {
    const children = schema[position]?.num_children ?? 0
    position += 1
    for (let child = 0; child < children; child++) skip()
  }
  while (position < schema.length) {
    names.push(schema[position]?.name ?? '')
    skip()
  }
  return names
}
