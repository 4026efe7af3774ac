import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import type { RowGroup } from 'hyparquet'
import { describe, expect, it, test } from 'vitest'
import { temporaryFolder } from '../../test/store/support/temporary-folder.ts'
import { writeParquetRows } from '../../test/store/support/write-parquet.ts'
import { readParquetRows } from './index.ts'
import { checkRowGroup } from './parquet-limits.ts'
import type { OpenParquet } from './parquet-open.ts'

test.each([
  ['GZIP', gzipSync],
  ['ZSTD', zstdCompressSync],
] as const)('a %s page decompresses to no more than its header says', async (codec, compress) => {
  const path = join(temporaryFolder(), 'bomb.parquet')
  // Concatenated members: five gigabytes in a few hundred kilobytes.
  const member = compress(Buffer.alloc(2 ** 26))
  const bomb = new Uint8Array(Buffer.concat(Array<Buffer>(80).fill(member)))
  const columns = { question: 'string', answer: 'string' } as const
  writeParquetRows(path, columns, [{ question: 'q', answer: 'a' }], {
    codec,
    compressors: { [codec]: () => bomb },
  })
  const before = process.memoryUsage.rss()
  const rows = readParquetRows(path)
  await expect(rows.next()).rejects.toThrow('cannot read')
  expect(process.memoryUsage.rss() - before).toBeLessThan(5e8)
})

describe('a row group', () => {
  /** A page header of the compact protocol, and no content. */
  function page(bytes: number, values: number): number[] {
    const field = (number: number): number[] => [0x15, ...varint(number * 2)]
    return [...field(0), ...field(bytes), ...field(0), 0x2c, ...field(values), 0, 0]
  }
  function varint(number: number): number[] {
    return number < 128 ? [number] : [(number % 128) + 128, ...varint(Math.floor(number / 128))]
  }
  function check(pages: number[][], columns = ['text'], size?: number): Promise<void> {
    const bytes = Uint8Array.from(pages.flat())
    const buffer = {
      byteLength: bytes.length,
      slice: (from: number, to?: number) => bytes.slice(from, to).buffer,
    }
    const meta_data = {
      path_in_schema: ['text'],
      data_page_offset: 0n,
      total_compressed_size: BigInt(size ?? bytes.length),
    }
    return checkRowGroup(
      'x.parquet',
      { buffer } as unknown as OpenParquet,
      { columns: [{ meta_data }] } as unknown as RowGroup,
      columns,
    )
  }

  it.each<[string, number[][], RegExp]>([
    ['that declares a page of two gigabytes', [page(2 ** 31 - 1, 1)], /decompresses to more than 512 MB/],
    ['with many large pages', Array(6).fill(page(1e8, 1)), /decompresses to more than 512 MB/],
    ['with one value repeated a billion times', [page(10, 1e9)], /more than 32000000 values/],
    ['with runs that add up', Array(4).fill(page(10, 1e7)), /more than 32000000 values/],
  ])('%s is rejected', async (_, pages, reason) => {
    const refused = check(pages)
    await expect(refused).rejects.toThrow(reason)
    await expect(refused).rejects.toMatchObject({ fix: expect.stringContaining('smaller row groups') })
    // Columns that are not read cost nothing.
    await check(pages, ['other'])
  })

  it('of normal size is accepted', async () => {
    await check(Array(100).fill(page(1_000_000, 20_000)))
  })

  it('that extends beyond the file is rejected', async () => {
    await expect(check([page(1, 1)], ['text'], 1e9)).rejects.toThrow('outside the file')
  })
})
