import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Dealt, dealEvenly } from './deal.ts'

const lengths = fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 80 })

it('puts everything into one step each, and no two steps differ by more than the longest', () => {
  fc.assert(
    fc.property(lengths, fc.double({ min: 0, max: 1, noNaN: true }), (tokens, share) => {
      const items = tokens.map((each, index): Dealt => ({ index, tokens: each, at: (index * 0.618) % 1 }))
      const count = 1 + Math.floor(share * (items.length - 1))
      const steps = dealEvenly(items, count)
      expect(steps.length).toBe(count)
      expect(steps.flat().sort((left, right) => left - right)).toEqual(items.map(({ index }) => index))
      const sizes = steps.map((step) => step.reduce((sum, index) => sum + tokens[index]!, 0))
      expect(Math.min(...sizes)).toBeGreaterThan(0)
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(Math.max(...tokens))
    }),
    { numRuns: 10_000 },
  )
})

it('leaves it to chance which of like length come together', () => {
  const items = [0.3, 0.1, 0.2, 0.9, 0.8, 0.7].map((at, index) => ({ index, tokens: index < 3 ? 9 : 5, at }))
  expect(dealEvenly(items, 3)).toEqual([
    [1, 5],
    [2, 4],
    [0, 3],
  ])
})
