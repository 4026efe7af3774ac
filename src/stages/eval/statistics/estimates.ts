import type { Estimate } from '../../../schema/index.ts'
import { type BootstrapOptions, bootstrap } from './bootstrap.ts'
import { wilson } from './wilson.ts'

export function sum(values: Iterable<number>): number {
  let total = 0
  for (const value of values) total += value
  return total
}

/** A mean over tasks with its interval; 0 of nothing. */
export function meanOf(values: readonly number[], options: BootstrapOptions): Estimate {
  if (values.length === 0) return { value: 0, low: 0, high: 0 }
  const value = sum(values) / values.length
  const bounds = bootstrap(
    values.length,
    (drawn) => {
      let total = 0
      for (const at of drawn) total += values[at]!
      return total / drawn.length
    },
    options,
  )!
  return { value, ...bounds }
}

/**
 * A share of right answers, from one value a task. Where a task is either solved or not, the interval is Wilson's; where
 * several attempts make it a fraction, tasks are drawn anew, because attempts at one task are not independent.
 */
export function shareOf(values: readonly number[], options: BootstrapOptions): Estimate {
  return values.every((value) => value === 0 || value === 1)
    ? wilson(sum(values), values.length)
    : meanOf(values, options)
}

/** One total over another, both by task. */
export function ratioOf(
  above: readonly number[],
  below: readonly number[],
  options: BootstrapOptions,
): Estimate | null {
  const under = sum(below)
  if (under === 0) return null
  const bounds = bootstrap(
    above.length,
    (drawn) => {
      let [over, less] = [0, 0]
      for (const at of drawn) {
        over += above[at]!
        less += below[at]!
      }
      return less === 0 ? Number.NaN : over / less
    },
    options,
  )
  return bounds === undefined ? null : { value: sum(above) / under, ...bounds }
}
