import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cut, widthOf, wrap } from './cell-width.ts'

const text = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', ' ', 'é', 'e\u0301', '日', '😀', '👩‍🚀', '\u200b', '…') }),
  fc.string({ unit: 'grapheme' }).map((one) => one.replaceAll(/\s/g, ' ')),
)

test.each([
  ['', 0],
  ['abc', 3],
  ['é', 1],
  ['e\u0301', 1],
  ['日本', 4],
  ['😀', 2],
  ['👩‍🚀', 2],
  ['▁█░┆─✓▸○→', 9],
])('%j is %i cells wide', (one, cells) => {
  expect(widthOf(one)).toBe(cells)
})

test('a cut text fits, and a text that fits is not cut', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 0, max: 20 }), (one, columns) => {
      const short = cut(one, columns)
      expect(widthOf(short)).toBeLessThanOrEqual(columns)
      if (widthOf(one) <= columns) expect(short).toBe(one)
      else if (columns > 0) expect(one.startsWith(short.slice(0, -1))).toBe(true)
    }),
    { numRuns: 10_000 },
  )
})

test('wrapped lines fit and lose only spaces', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 2, max: 20 }), (one, columns) => {
      const lines = wrap(one, columns)
      for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns)
      expect(lines.join('').replaceAll(' ', '')).toBe(one.replaceAll(' ', ''))
    }),
    { numRuns: 10_000 },
  )
})

test('lines are broken at spaces', () => {
  expect(wrap('one two three four', 9)).toEqual(['one two', 'three', 'four'])
  expect(wrap('onetwothreefour', 6)).toEqual(['onetwo', 'threef', 'our'])
})
