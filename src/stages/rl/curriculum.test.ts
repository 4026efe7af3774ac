import { expect, it } from 'vitest'
import { makeTask } from '../../../test/rl/make-rollout.ts'
import { curriculumOrder, type PassRates, preference, tasksFrom, withTries } from './curriculum.ts'

const tasks = Array.from({ length: 30 }, (_, number) => makeTask(`t${number}`))

it('uses all tasks before any repeats, each time in a different order', () => {
  const drawn = tasksFrom(tasks, 1, 0, 90).map(({ id }) => id)
  const epochs = [0, 1, 2].map((epoch) => drawn.slice(30 * epoch, 30 * epoch + 30))
  for (const epoch of epochs) expect(new Set(epoch).size).toBe(30)
  expect(epochs[0]).not.toEqual(epochs[1])
  // The same from any starting point, in any order of the tasks.
  const parts = [...tasksFrom(tasks, 1, 0, 25), ...tasksFrom(tasks.toReversed(), 1, 25, 65)]
  expect(parts.map(({ id }) => id)).toEqual(drawn)
  expect(tasksFrom(tasks, 2, 0, 30).map(({ id }) => id)).not.toEqual(epochs[0])
})

it('prefers tasks solved half of the time', () => {
  expect(preference()).toBe(1)
  expect(preference({ correct: 4, wrong: 4 })).toBe(1)
  expect(preference({ correct: 6, wrong: 0 })).toBeCloseTo(4 * (7 / 8) * (1 / 8), 12)
  expect(preference({ correct: 0, wrong: 6 })).toBe(preference({ correct: 6, wrong: 0 }))
  expect(preference({ correct: 1000, wrong: 0 })).toBe(0.05)
})

it('discounts older results', () => {
  let rates: PassRates = {}
  rates = withTries(rates, 'a', { correct: 8, wrong: 0 })
  rates = withTries(rates, 'a', { correct: 2, wrong: 6 })
  expect(rates).toEqual({ a: { correct: 6, wrong: 6 } })
})

it('samples tasks near the middle more often, and omits none', () => {
  const rates = Object.fromEntries(
    tasks.map(({ id }, at) => [
      id,
      at < 10 ? { correct: 4, wrong: 4 } : { correct: at < 20 ? 50 : 0, wrong: at < 20 ? 0 : 50 },
    ]),
  )
  const counts = new Map<string, number>()
  for (let step = 0; step < 400; step++)
    for (const { id } of curriculumOrder(tasks, rates, 1, step).slice(0, 5))
      counts.set(id, (counts.get(id) ?? 0) + 1)
  const drawn = (from: number, to: number): number =>
    tasks.slice(from, to).reduce((sum, { id }) => sum + (counts.get(id) ?? 0), 0)
  expect(drawn(0, 10)).toBeGreaterThan(0.8 * 2000)
  expect(drawn(10, 20)).toBeGreaterThan(20)
  expect(drawn(20, 30)).toBeGreaterThan(20)
  expect(curriculumOrder(tasks, rates, 1, 3)).toEqual(curriculumOrder(tasks.toReversed(), rates, 1, 3))
})
