import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { captureOutput } from './capture-output.ts'

test('passes on whole lines, then an incomplete last line, and restores the stream', async () => {
  const stream = new PassThrough() as unknown as NodeJS.WriteStream
  const taken: string[] = []
  const end = captureOutput([stream], (lines) => taken.push(lines))
  stream.write('one\ntwo')
  stream.write(Buffer.from(' and\nthree\nfo'))
  await new Promise<void>((done) => stream.write('ur', () => done()))
  expect(taken).toEqual(['one\n', 'two and\nthree\n'])
  end()
  expect(taken).toEqual(['one\n', 'two and\nthree\n', 'four'])
  stream.write('plain')
  expect(String(stream.read())).toBe('plain')
})
