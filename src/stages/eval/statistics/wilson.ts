import type { Estimate } from '../../../schema/index.ts'

/** The normal quantile of 97.5 %. */
const Z = 1.959963984540054

/**
 * A success rate with its 95% Wilson interval, which stays meaningful near 0 and 1.
 *
 * @example
 * import { wilson } from 'chain-of-agents'
 *
 * const { value, low, high } = wilson(240, 300)
 * console.log(value, low, high) // 0.8, and its interval
 */
export function wilson(successes: number, of: number): Estimate {
  if (of === 0) throw new RangeError('a share of nothing')
  const value = successes / of
  const spread = (Z / (1 + Z ** 2 / of)) * Math.sqrt((value * (1 - value)) / of + Z ** 2 / (4 * of ** 2))
  const centre = (value + Z ** 2 / (2 * of)) / (1 + Z ** 2 / of)
  // Rounding must not move a bound past the share itself.
  return {
    value,
    low: Math.max(0, Math.min(value, centre - spread)),
    high: Math.min(1, Math.max(value, centre + spread)),
  }
}
