import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bootstrap, mcnemar, meanOf, passAtK, ratioOf, shareOf, wilson } from './statistics.ts'

const draws = { resamples: 2000, seed: 1 }

describe('pass@k', () => {
  /** Every choice of k of n attempts, of which the first c are correct. */
  function byEnumeration(n: number, c: number, k: number): number {
    let [all, solved] = [0, 0]
    for (let choice = 0; choice < 2 ** n; choice++) {
      const chosen = Array.from({ length: n }, (_, at) => at).filter((at) => (choice >> at) & 1)
      if (chosen.length !== k) continue
      all++
      if (chosen.some((at) => at < c)) solved++
    }
    return solved / all
  }

  it('is the share of choices with a correct attempt', () => {
    for (let n = 1; n <= 10; n++)
      for (let c = 0; c <= n; c++)
        for (let k = 1; k <= n; k++) expect(passAtK(n, c, k)).toBeCloseTo(byEnumeration(n, c, k), 12)
  })

  it('is the mean for k = 1, and refuses k > n', () => {
    expect(passAtK(8, 3, 1)).toBeCloseTo(3 / 8, 12)
    expect(() => passAtK(4, 2, 8)).toThrow(RangeError)
  })
})

describe("Wilson's interval", () => {
  // R. G. Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])('of %i in %i is published as %f to %f', (successes, of, low, high) => {
    const found = wilson(successes, of)
    expect(found.value).toBe(successes / of)
    expect(found.low).toBeCloseTo(low, 4)
    expect(found.high).toBeCloseTo(high, 4)
  })

  it('contains exactly the proportions that a score test does not reject', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 400 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (of, part) => {
          const { value, low, high } = wilson(Math.round(part * of), of)
          const score = (share: number): number =>
            Math.abs(value - share) / Math.sqrt((share * (1 - share)) / of)
          expect(low).toBeLessThanOrEqual(value)
          expect(high).toBeGreaterThanOrEqual(value)
          if (low > 0) expect(score(low)).toBeCloseTo(1.959963984540054, 6)
          if (high < 1) expect(score(high)).toBeCloseTo(1.959963984540054, 6)
        },
      ),
    )
  })
})

describe("McNemar's test", () => {
  /** Both tails, term by term, in integers. */
  function bySummation(one: number, other: number): number {
    const n = one + other
    const choose = (k: number): bigint => {
      let found = 1n
      for (let at = 0; at < k; at++) found = (found * BigInt(n - at)) / BigInt(at + 1)
      return found
    }
    let tail = 0n
    for (let at = 0; at <= Math.min(one, other); at++) tail += choose(at)
    return Math.min(1, Number((2n * tail * 10n ** 18n) / 2n ** BigInt(n)) / 1e18)
  }

  it('is the sum of both tails', () => {
    for (let one = 0; one <= 40; one += 3)
      for (let other = 0; other <= 40; other++)
        expect(mcnemar(one, other)).toBeCloseTo(bySummation(one, other), 10)
    expect(mcnemar(1, 9)).toBeCloseTo(22 / 1024, 12)
    expect(mcnemar(900, 1100)).toBeCloseTo(bySummation(900, 1100), 10)
  })

  it('finds no difference between equal solvers', () => {
    expect(mcnemar(0, 0)).toBe(1)
    expect(mcnemar(7, 7)).toBe(1)
  })
})

describe('the bootstrap', () => {
  it('depends only on the seed', () => {
    const values = Array.from({ length: 30 }, (_, at) => Math.sqrt(at))
    expect(meanOf(values, draws)).toEqual(meanOf(values, draws))
    expect(meanOf(values, draws)).not.toEqual(meanOf(values, { ...draws, seed: 2 }))
  })

  it('matches exhaustive enumeration for small samples', () => {
    // Of the 27 samples of three, one has the mean 0 and one the mean 9: 3.7% each, more than 2.5%.
    expect(meanOf([0, 3, 9], { resamples: 20_000, seed: 3 })).toEqual({ value: 4, low: 0, high: 9 })
    // Six coin flips: none is heads in 1.6% of cases, at most one in 10.9%.
    const coins = meanOf([0, 0, 0, 1, 1, 1], { resamples: 20_000, seed: 3 })
    expect(coins).toEqual({ value: 0.5, low: 1 / 6, high: 5 / 6 })
  })

  it('approaches the normal interval for a large sample', () => {
    const values = Array.from({ length: 400 }, (_, at) => (at * 37) % 101)
    const { value, low, high } = meanOf(values, draws)
    const deviation = Math.sqrt(values.reduce((total, one) => total + (one - value) ** 2, 0) / 400)
    const half = (1.96 * deviation) / 20
    expect(Math.abs(value - low - half) / half).toBeLessThan(0.1)
    expect(Math.abs(high - value - half) / half).toBeLessThan(0.1)
  })

  it('ignores samples in which a ratio is undefined', () => {
    expect(ratioOf([10, 20], [0, 1], draws)).toEqual({ value: 30, low: 20, high: 30 })
    expect(ratioOf([10, 20], [0, 0], draws)).toBeNull()
    expect(bootstrap(0, () => 1, draws)).toBeUndefined()
  })
})

it('accuracy uses a Wilson interval for binary outcomes and a bootstrap for fractional ones', () => {
  expect(shareOf([1, 0, 1, 1], draws)).toEqual(wilson(3, 4))
  const inPart = shareOf([0.5, 0.5, 1, 0], draws)
  expect(inPart).toEqual(meanOf([0.5, 0.5, 1, 0], draws))
  expect(inPart.value).toBe(0.5)
})
