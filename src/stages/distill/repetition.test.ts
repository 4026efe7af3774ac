import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RepetitionFilter, sentences } from './repetition.ts'

describe('sentences', () => {
  it.each([
    ['One here. Two!  Three?', ['One here. ', 'Two!  ', 'Three?']],
    ['1. First.\n2. Second, 3.5 long.', ['1. First.\n', '2. Second, 3.5 long.']],
    ['Run:\n```py\na = 1. \nb\n```\nDone.', ['Run:\n', '```py\na = 1. \nb\n```\n', 'Done.']],
    ['```py\nnever closed. \n', ['```py\nnever closed. \n']],
    ['。 ！', ['。 ', '！']],
  ])('cuts %j', (text, pieces) => {
    expect(sentences(text)).toEqual(pieces)
  })

  it('loses nothing', () => {
    const piece = fc.constantFrom('a', ' ', '\n', '.', '!', '1', '```', '`', '。', '\ud83d', '\t', 'word')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (parts) => {
        const text = parts.join('')
        expect(sentences(text).join('')).toBe(text)
      }),
      { numRuns: 10_000 },
    )
  })
})

describe('RepetitionFilter', () => {
  it('keeps new sentences and short ones without information', () => {
    const said = new RepetitionFilter()
    said.add('The Osk flows there. Good.')
    expect(said.addNew('Good. The Osk flows there. It is long.')).toBe('Good. It is long.')
    expect(said.addNew('The Osk flows there.')).toBe('')
    expect(said.addNew('It is long.')).toBe('It is long.')
    expect(said.addNew('It is long.')).toBe('')
  })

  it('never splits a program', () => {
    const said = new RepetitionFilter()
    said.add('for x in range(10):\n    print(x, end="")')
    const program = '```py\nfor x in range(10):\n    print(x, end="")\nprint(1)\n```'
    expect(said.addNew(program)).toBe(program)
  })
})
