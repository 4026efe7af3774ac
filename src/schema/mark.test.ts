import { expect, test } from 'vitest'
import { latestMarks, Mark, markId } from './mark.ts'

const of = { kind: 'rollout', id: 'a#0' } as const

function mark(
  by: string,
  rating: Mark['rating'],
  second: number,
  kind: Mark['of']['kind'] = 'rollout',
): Mark {
  const target = { ...of, kind }
  return {
    v: 1,
    id: markId({ of: target, by }),
    of: target,
    rating,
    by,
    at: `2026-01-01T00:00:0${second}.000Z`,
  }
}

test('the latest mark of a record counts, whoever made it and in whatever order they are read', () => {
  const marks = [mark('user', 'good', 2), mark('tests', 'bad', 1), mark('user', 'none', 3, 'sequence')]
  for (const order of [marks, marks.toReversed()])
    expect(latestMarks(order)).toEqual(new Map([['a#0', marks[2]]]))
  expect(latestMarks(marks.slice(0, 2)).get('a#0')!.rating).toBe('good')
  expect(latestMarks([]).size).toBe(0)
})

test('marks of one record by two programs are kept apart, and so are those of a rollout and a sequence', () => {
  const ids = [mark('user', 'good', 1), mark('tests', 'good', 1), mark('user', 'good', 1, 'sequence')]
  expect(new Set(ids.map(({ id }) => id)).size).toBe(3)
  for (const one of ids) expect(Mark.parse(one)).toEqual(one)
})

test('a mark says what it marks, when, and one of three ratings', () => {
  const good = mark('user', 'good', 1)
  for (const wrong of [
    { rating: 'fine' },
    { at: 'yesterday' },
    { by: '' },
    { of: { kind: 'task', id: 'a' } },
  ])
    expect(Mark.safeParse({ ...good, ...wrong }).success).toBe(false)
})
