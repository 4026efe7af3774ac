import fc from 'fast-check'
import { expect, test } from 'vitest'
import { unread } from './unread.ts'

/** Words of a fixed length, so that none is part of another. */
const word = (known: boolean) =>
  fc.nat(9999).map((number) => `${known ? 'k' : 'u'}${String(number).padStart(12, '0')}`)
const mixed = fc.array(fc.oneof(word(true), word(false)), { minLength: 1, maxLength: 20 })

test('what is left of a text are the words that are in none of the texts that were read', () => {
  fc.assert(
    fc.property(fc.array(mixed, { minLength: 1, maxLength: 4 }), (texts) => {
      const read = texts.map((words) => words.filter((one) => one.startsWith('k')).join(' '))
      const left = unread([texts.map((words) => words.join(' '))], read)
      const lost = texts.map((words) => words.filter((one) => one.startsWith('u')).join(' '))
      const expected = new Set(lost.filter((words) => words !== ''))
      expect(new Set(left.map(({ text }) => text))).toEqual(expected)
    }),
    { numRuns: 10_000 },
  )
})

test('text in JSON is compared without its escapes, on either side', () => {
  const result = JSON.stringify({ content: 'a "quoted" line\nand another \\ one' })
  expect(unread([{ result: { content: 'a "quoted" line\nand another \\ one' } }], [result])).toEqual([])
  expect(unread([result], ['a "quoted" line\nand another \\ one'])).toEqual([])
})
