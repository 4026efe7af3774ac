import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../test/store/support/temporary-folder.ts'
import { type ColumnSpec, writeParquetRows } from '../../test/store/support/write-parquet.ts'
import { readParquetRows } from './index.ts'

const columns: Record<string, ColumnSpec> = {
  name: 'string',
  size: 'integer',
  tags: ['string'],
  answer: { value: 'string', aliases: ['string'], turns: [{ role: 'string', text: 'string' }] },
}
const rows = [
  {
    name: '\ufeffone',
    size: 1n,
    tags: ['a', 'b'],
    answer: { value: 'x', aliases: ['y', 'z'], turns: [{ role: 'user', text: 'hello' }] },
  },
  { name: 'two', size: 2n ** 60n + 1n, tags: [], answer: { value: null, aliases: [], turns: [] } },
]
const asRead = [
  { ...rows[0], size: 1 },
  // Too large for an exact number, so it stays text.
  { ...rows[1], size: String(2n ** 60n + 1n) },
]

async function read(path: string, wanted?: Parameters<typeof readParquetRows>[1]) {
  const all: unknown[] = []
  for await (const { number, values } of readParquetRows(path, wanted)) all.push([number, values])
  return all
}

test('returns plain and nested values across row groups', async () => {
  const path = join(temporaryFolder(), 'rows.parquet')
  writeParquetRows(path, columns, rows, { rowGroupSize: 1 })
  expect(await read(path)).toEqual(asRead.map((row, index) => [index + 1, row]))
})

test('reads only the requested columns', async () => {
  const path = join(temporaryFolder(), 'rows.parquet')
  writeParquetRows(path, columns, rows)
  const wanted = (names: readonly string[]) => names.filter((name) => name === 'name')
  expect(await read(path, wanted)).toEqual([
    [1, { name: '\ufeffone' }],
    [2, { name: 'two' }],
  ])
})

test.each([
  ['GZIP', gzipSync],
  ['BROTLI', brotliCompressSync],
  ['ZSTD', zstdCompressSync],
] as const)('a file compressed with %s', async (codec, compress) => {
  const path = join(temporaryFolder(), 'rows.parquet')
  const compressors = { [codec]: (bytes: Uint8Array) => new Uint8Array(compress(bytes)) }
  writeParquetRows(path, columns, rows, { codec, compressors })
  expect(await read(path)).toEqual(asRead.map((row, index) => [index + 1, row]))
})

test('a gzipped file, and one that is not Parquet', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'rows.parquet')
  writeParquetRows(path, columns, rows)
  writeFileSync(`${path}.gz`, gzipSync(readFileSync(path)))
  expect(await read(`${path}.gz`)).toHaveLength(2)
  writeFileSync(path, 'no parquet')
  await expect(read(path)).rejects.toMatchObject({ fix: 'Check that the file exists and is complete.' })
})
