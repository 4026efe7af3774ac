import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AdvantageKind, advantagesOf } from './advantages.ts'

const close = (found: number[][], wanted: number[][]): void => {
  expect(found.map((group) => group.length)).toEqual(wanted.map((group) => group.length))
  for (const [index, value] of found.flat().entries()) expect(value).toBeCloseTo(wanted.flat()[index]!, 9)
}

describe('advantagesOf', () => {
  it('agrees with values computed by hand', () => {
    // One correct of four: mean 1/4, squares 9/16 + 3·1/16 = 3/4, unbiased deviation 1/2.
    const one = [1, 0, 0, 0]
    const two = [1, 1, 0, 0] // mean 1/2, squares 1, unbiased deviation √(1/3)
    const e = 1e-6
    close(advantagesOf([one, two], 'group'), [
      [0.75 / (0.5 + e), -0.25 / (0.5 + e), -0.25 / (0.5 + e), -0.25 / (0.5 + e)],
      [0.5, 0.5, -0.5, -0.5].map((value) => value / (Math.sqrt(1 / 3) + e)),
    ])
    close(advantagesOf([one, two], 'group-mean'), [
      [0.75, -0.25, -0.25, -0.25],
      [0.5, 0.5, -0.5, -0.5],
    ])
    close(advantagesOf([one, two], 'leave-one-out'), [
      [1, -1 / 3, -1 / 3, -1 / 3],
      [2 / 3, 2 / 3, -2 / 3, -2 / 3],
    ])
    // All eight: mean 3/8, squares 3·25/64 + 5·9/64 = 120/64, unbiased variance 15/56.
    const all = Math.sqrt(15 / 56) + e
    close(
      advantagesOf([one, two], 'batch'),
      [one, two].map((group) => group.map((reward) => (reward - 0.375) / all)),
    )
    // Differences from the group means have mean 0 and squares 3/4 + 1: variance 1/4.
    close(advantagesOf([one, two], 'batch-group'), [
      [0.75, -0.25, -0.25, -0.25].map((value) => value / (0.5 + e)),
      [0.5, 0.5, -0.5, -0.5].map((value) => value / (0.5 + e)),
    ])
  })

  it('has mean 0 and deviation 1 for a group of one', () => {
    close(advantagesOf([[1], [0]], 'group'), [[1 / (1 + 1e-6)], [0]])
    close(advantagesOf([[1], [0]], 'leave-one-out'), [[1], [0]])
  })

  it('is 0 if all rewards are equal', () => {
    for (const kind of ['group', 'group-mean', 'leave-one-out', 'batch', 'batch-group'] as const)
      expect(advantagesOf([[0.1, 0.1, 0.1]], kind)).toEqual([[0, 0, 0]])
  })

  it('sums to 0 within a group, keeps order, and is invariant to a shift of all rewards', () => {
    const rewards = fc.array(fc.array(fc.integer({ min: -8, max: 8 }), { minLength: 2, maxLength: 9 }), {
      minLength: 1,
      maxLength: 5,
    })
    const kinds = fc.constantFrom<AdvantageKind>('group', 'group-mean', 'leave-one-out', 'batch-group')
    fc.assert(
      fc.property(rewards, kinds, fc.integer({ min: -5, max: 5 }), (groups, kind, shift) => {
        const found = advantagesOf(groups, kind)
        const shifted = advantagesOf(
          groups.map((group) => group.map((reward) => reward + shift)),
          kind,
        )
        for (const [index, advantages] of found.entries()) {
          expect(Math.abs(advantages.reduce((sum, value) => sum + value, 0))).toBeLessThan(1e-9)
          for (const [one, advantage] of advantages.entries()) {
            expect(advantage).toBeCloseTo(shifted[index]![one]!, 9)
            for (const [other, rest] of advantages.entries())
              if (groups[index]![one]! > groups[index]![other]!) expect(advantage).toBeGreaterThan(rest)
          }
        }
      }),
      { numRuns: 2000 },
    )
  })
})
