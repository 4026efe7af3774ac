import { expect, it } from 'vitest'
import { statisticsOf } from './statistics.ts'

it('computes mean and both deviations', () => {
  expect(statisticsOf([2, 4, 4, 4, 5, 5, 7, 9])).toEqual({
    count: 8,
    mean: 5,
    std: Math.sqrt(32 / 7),
    populationStd: 2,
  })
  expect(statisticsOf([0.1, 0.1, 0.1])).toEqual({ count: 3, mean: 0.1, std: 0, populationStd: 0 })
  expect(statisticsOf([3])).toEqual({ count: 1, mean: 3, std: 0, populationStd: 0 })
  expect(statisticsOf([])).toEqual({ count: 0, mean: 0, std: 0, populationStd: 0 })
})
