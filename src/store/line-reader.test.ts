import { closeSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../test/store/support/temporary-folder.ts'
import { readLines } from './line-reader.ts'

function linesOf(bytes: Buffer, limits: { chunkBytes?: number; maxLineBytes?: number }, from = 0) {
  const path = join(temporaryFolder(), 'lines')
  writeFileSync(path, bytes)
  const fd = openSync(path, 'r')
  try {
    const lines = readLines(fd, from, bytes.length, limits)
    return Array.from(lines, ({ bytes, ...rest }) => ({
      ...rest,
      text: bytes && Buffer.from(bytes).toString('hex'),
    }))
  } finally {
    closeSync(fd)
  }
}

test('splits at newlines for any chunk size, and skips an incomplete end', () => {
  const line = fc.uint8Array({ maxLength: 12 }).map((bytes) => bytes.map((byte) => (byte === 10 ? 11 : byte)))
  const arrangement = fc.record({
    lines: fc.array(line, { maxLength: 6 }),
    rest: line,
    chunkBytes: fc.integer({ min: 1, max: 20 }),
    maxLineBytes: fc.integer({ min: 1, max: 14 }),
  })
  // 2,000 runs: each writes a file.
  fc.assert(
    fc.property(arrangement, ({ lines, rest, chunkBytes, maxLineBytes }) => {
      const bytes = Buffer.concat([...lines.flatMap((content) => [content, Buffer.from('\n')]), rest])
      let offset = 0
      const expected = lines.map((content) => {
        const length = content.length + 1
        const text = length > maxLineBytes ? undefined : Buffer.from(content).toString('hex')
        offset += length
        return { offset: offset - length, length, text }
      })
      expect(linesOf(bytes, { chunkBytes, maxLineBytes })).toEqual(expected)
    }),
    { numRuns: 2000 },
  )
})

test('starts at the given offset', () => {
  expect(linesOf(Buffer.from('a\nbb\nc\n'), {}, 2)).toEqual([
    { offset: 2, length: 3, text: '6262' },
    { offset: 5, length: 2, text: '63' },
  ])
})
