import fc from 'fast-check'
import { expect, test } from 'vitest'
import { unread } from './unread.ts'

/** Words of a fixed length, so that none is part of another. */
const word = (known: boolean) =>
  fc.nat(9999).map((number) => `${known ? 'k' : 'u'}${String(number).padStart(12, '0')}`)
/** Whether each of some runs of words was read. */
const runs = fc.array(
  fc.oneof(
    fc.record({ read: fc.constant(true), words: fc.array(word(true), { minLength: 4, maxLength: 9 }) }),
    fc.record({ read: fc.constant(false), words: fc.array(word(false), { minLength: 1, maxLength: 4 }) }),
  ),
  { minLength: 1, maxLength: 6 },
)

test('what is left of a text are the words that are in none of the texts that were read', () => {
  fc.assert(
    fc.property(fc.array(runs, { minLength: 1, maxLength: 4 }), (texts) => {
      const read = texts.flatMap((parts) => parts.flatMap((run) => (run.read ? run.words.join(' ') : [])))
      const left = unread([texts.map((parts) => parts.flatMap(({ words }) => words).join(' '))], read)
      const lost = texts.map((parts) => {
        const all = parts.flatMap(({ words }) => words)
        const words = parts.flatMap((run) => (run.read ? [] : run.words))
        return (words.length > 2 || words.length > all.length / 2 ? all : words).join(' ')
      })
      const expected = new Set(lost.filter((words) => words !== ''))
      expect(new Set(left.map(({ text }) => text))).toEqual(expected)
    }),
    { numRuns: 10_000 },
  )
})

test.each([
  ['a sentence whose words are all elsewhere', { note: 'the sea is long' }, ['the sea is long']],
  ['one word under a key of text', { message: 'Danube' }, ['Danube']],
  ['a part of a longer word', { reply: 'iver' }, ['iver']],
  ['a number under a key of text', { output: 42 }, ['42']],
  ['a short sentence', { vote: 'No!' }, ['No!']],
  ['labels', { role: 'user', kind: 'x', total: 7, finish_reason: 'stop', model: 'gpt-4o-2024-11-20' }, []],
  ['what was read', { text: 'The river is long.', message: 'ends' }, []],
])('%s', (_name, value, lost) => {
  const left = unread([value], ['The river is long.', 'It ends in the sea, along the coast'])
  expect(left.map(({ text }) => text)).toEqual(lost)
})

test('text in JSON is compared without its escapes, on either side', () => {
  const result = JSON.stringify({ content: 'a "quoted" line\nand another \\ one' })
  expect(unread([{ result: { content: 'a "quoted" line\nand another \\ one' } }], [result])).toEqual([])
  expect(unread([result], ['a "quoted" line\nand another \\ one'])).toEqual([])
})
