import { expect, test } from 'vitest'
import { rateAt } from './learning-rate.ts'

const settings = { learning_rate: 8, warmup_steps: 3, final_share: 0.25, steps: 7 }

test('the learning rate rises over the warm-up and falls to its last share', () => {
  const rates = [1, 2, 3, 4, 5, 6, 7].map((step) => rateAt(step, settings))
  const expected = [8 / 3, 16 / 3, 8, 6.5, 5, 3.5, 2]
  for (const [at, rate] of rates.entries()) expect(rate).toBeCloseTo(expected[at]!, 12)
})

test('it stays where nothing else is said, beyond the last step too, and without a warm-up', () => {
  const constant = { ...settings, final_share: 1 }
  expect([3, 5, 7, 9].map((step) => rateAt(step, constant))).toEqual([8, 8, 8, 8])
  expect(rateAt(9, settings)).toBe(2)
  expect(rateAt(1, { ...constant, warmup_steps: 0 })).toBe(8)
  expect(rateAt(1, { ...settings, warmup_steps: 0, steps: 1 })).toBe(8)
})
