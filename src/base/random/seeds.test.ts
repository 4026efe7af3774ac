import { expect, test } from 'vitest'
import { fractionOf, Random, seedOf, textFraction } from './index.ts'

// Splits, generated tasks, batches and rollouts depend on these values: changing one changes every result.
test('fractions are stable', () => {
  expect([
    fractionOf(),
    fractionOf('a'),
    fractionOf(7, 'precedence seq-1'),
    fractionOf('curriculum', 0, 3, 'math-é𝄞'),
    fractionOf('\ud800'),
  ]).toEqual([
    0.8894159948913372, 0.7913742705223814, 0.8541155633726831, 0.9180106808279596, 0.5149729728601775,
  ])
})

test('fractions of generated tasks are stable', () => {
  expect(['', 'a', 'add then halve', 'é𝄞\ud800'].map(textFraction)).toEqual([
    0.03831431549042463, 0.48454062663950026, 0.7295902546029538, 0.35425766836851835,
  ])
})

test('seeds are stable', () => {
  expect([seedOf(), seedOf('a'), seedOf('eval', 0, 't-1', 2), seedOf('turn', 5, 3)]).toEqual([
    560093297, 155241445, 1661254407, 2060749101,
  ])
})

test('random numbers are stable', () => {
  const random = new Random('math', 7, 'é')
  expect([
    random.unit(),
    random.unit(),
    random.int(1, 1000),
    random.pick(['a', 'b', 'c', 'd']),
    random.chance(0.5),
    random.shuffle([1, 2, 3, 4, 5, 6, 7]),
    random.sample([1, 2, 3, 4, 5, 6, 7], 3),
  ]).toEqual([0.3199060002807528, 0.5430731512606144, 391, 'c', false, [4, 1, 6, 7, 3, 2, 5], [1, 5, 2]])
  expect(new Random().unit()).toBe(0.6202958393841982)
})
