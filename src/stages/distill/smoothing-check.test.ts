import { describe, expect, it } from 'vitest'
import { smoothingFault } from './smoothing-check.ts'

const original =
  'Falesness lies on the Perska. At the census of 1,806 it had "two bridges".\nNext: 3.5 km of `path`.'

describe('a smoothed block', () => {
  it.each([
    ['Falesness is on the Perska; in 1,806 it had "two bridges". Then 3.5 km of `path`.', undefined],
    ['falesness is on the Perska; in 1,806 it had "two bridges". Then 3.5 km of `path`.', undefined],
    ['Falesness is on the Perska; it had "two bridges". Then 3.5 km of `path`.', 'a number is missing'],
    [
      'Falesness is on the Perska; in 1806 it had "two bridges". Then 3.5 km of `path`.',
      'a number is missing',
    ],
    ['Falesness is on the Perska; in 1,806 it had "two bridges", 2. Then 3.5 km of `path`.', 'a new number'],
    [
      'Falesness is on the perska; in 1,806 it had "two bridges". Then 3.5 km of `path`.',
      'a name is missing',
    ],
    ['The town is on the Perska; in 1,806 it had "two bridges". Then 3.5 km of `path`.', 'a name is missing'],
    ['Falesness is on the Perska; in 1,806 it had two. Then 3.5 km of `path`.', 'a quoted text is missing'],
    ['Falesness is on the Perska; in 1,806 it had "two bridges". Then 3.5 km of path.', 'code changed'],
  ])('%j: %s', (rewrite, fault) => expect(smoothingFault(original, rewrite)).toBe(fault))

  it('keeps fenced code to the letter', () => {
    const program = '```py\nprint(1)\n```'
    expect(smoothingFault(`Run it.\n${program}`, `I run it.\n${program}`)).toBeUndefined()
    expect(smoothingFault(`Run it.\n${program}`, 'I run it.\n```py\nprint( 1)\n```')).toBe('code changed')
  })
})
