import { expect, test } from 'vitest'
import { joined } from './draft.ts'

const textOf = (...texts: string[]): string =>
  joined(
    'reflection',
    texts.map((text, at) => ({ event: `e${at}`, text })),
  ).text

test('what an earlier piece ended with is not said again', () => {
  expect(textOf('The result is 81.', '81')).toBe('The result is 81.')
  expect(textOf('So: Helga Lanter.', 'Helga Lanter.')).toBe('So: Helga Lanter.')
  expect(textOf('Good.', 'Good.')).toBe('Good.')
})

test('what only looks like it is', () => {
  expect(textOf('The result is 181.', '81')).toBe('The result is 181.\n81')
  expect(textOf('The result is 2.81.', '81')).toBe('The result is 2.81.\n81')
  expect(textOf('The result is -81.', '81')).toBe('The result is -81.\n81')
  expect(textOf('81 is the result.', '81')).toBe('81 is the result.\n81')
  expect(textOf('It is twelve.', '…')).toBe('It is twelve.\n…')
})

test('whoever said it stays a source', () => {
  const step = joined('reflection', [
    { event: 'e1', text: 'The result is 81.' },
    { event: 'e2', text: '81' },
  ])
  expect(step.source).toEqual(['e1', 'e2'])
  expect(step.pieces).toBeUndefined()
})
