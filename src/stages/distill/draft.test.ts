import { expect, test } from 'vitest'
import { joinPieces } from './draft.ts'

const textOf = (...texts: string[]): string =>
  joinPieces(
    'reflection',
    texts.map((text, at) => ({ event: `e${at}`, text })),
  ).text

test('a piece that repeats the end of an earlier one is dropped', () => {
  expect(textOf('The result is 81.', '81')).toBe('The result is 81.')
  expect(textOf('So: Helga Lanter.', 'Helga Lanter.')).toBe('So: Helga Lanter.')
  expect(textOf('Good.', 'Good.')).toBe('Good.')
})

test('similar endings are kept', () => {
  expect(textOf('The result is 181.', '81')).toBe('The result is 181.\n81')
  expect(textOf('The result is 2.81.', '81')).toBe('The result is 2.81.\n81')
  expect(textOf('The result is -81.', '81')).toBe('The result is -81.\n81')
  expect(textOf('81 is the result.', '81')).toBe('81 is the result.\n81')
  expect(textOf('It is twelve.', '…')).toBe('It is twelve.\n…')
})

test('a dropped piece remains a source', () => {
  const step = joinPieces('reflection', [
    { event: 'e1', text: 'The result is 81.' },
    { event: 'e2', text: '81' },
  ])
  expect(step.source).toEqual(['e1', 'e2'])
  expect(step.pieces).toBeUndefined()
})
