import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { catchOutput } from './other-output.ts'

test('whole lines are handed over, what is left of one at the end, and then the stream is itself again', async () => {
  const stream = new PassThrough() as unknown as NodeJS.WriteStream
  const taken: string[] = []
  const end = catchOutput([stream], (lines) => taken.push(lines))
  stream.write('one\ntwo')
  stream.write(Buffer.from(' and\nthree\nfo'))
  await new Promise<void>((done) => stream.write('ur', () => done()))
  expect(taken).toEqual(['one\n', 'two and\nthree\n'])
  end()
  expect(taken).toEqual(['one\n', 'two and\nthree\n', 'four'])
  stream.write('plain')
  expect(String(stream.read())).toBe('plain')
})
