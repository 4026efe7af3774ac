import { expect, test } from 'vitest'
import { table } from './output.ts'

test('columns line up in a terminal, with any script and with colors', () => {
  const rows = ['ab', '\u001b[32mab\u001b[39m', '日', 'e\u0301b', '😀'].map((cell) => [cell, '|'])
  expect(table([...rows, ['abcd', '|']]).split('\n')).toEqual([
    'ab    |',
    '\u001b[32mab\u001b[39m    |',
    '日    |',
    'e\u0301b    |',
    '😀    |',
    'abcd  |',
  ])
})
