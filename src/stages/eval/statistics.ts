import { Random } from '../../base/random/index.ts'
import type { Estimate } from '../../schema/index.ts'

export function sum(values: Iterable<number>): number {
  let total = 0
  for (const value of values) total += value
  return total
}

/** A mean over tasks with its interval; 0 if there are none. */
export function meanOf(values: readonly number[], options: BootstrapOptions): Estimate {
  if (values.length === 0) return { value: 0, low: 0, high: 0 }
  const value = sum(values) / values.length
  const bounds = bootstrap(
    values.length,
    (indexes) => {
      let total = 0
      for (const at of indexes) total += values[at]!
      return total / indexes.length
    },
    options,
  )!
  return { value, ...bounds }
}

/**
 * Accuracy from one value per task. If every task is either solved or not, the interval is Wilson's; if several
 * attempts make it a fraction, tasks are resampled, because attempts at one task are not independent.
 */
export function shareOf(values: readonly number[], options: BootstrapOptions): Estimate {
  return values.every((value) => value === 0 || value === 1)
    ? wilson(sum(values), values.length)
    : meanOf(values, options)
}

/** The ratio of two totals, both by task. */
export function ratioOf(
  above: readonly number[],
  below: readonly number[],
  options: BootstrapOptions,
): Estimate | null {
  const under = sum(below)
  if (under === 0) return null
  const bounds = bootstrap(
    above.length,
    (indexes) => {
      let [over, less] = [0, 0]
      for (const at of indexes) {
        over += above[at]!
        less += below[at]!
      }
      return less === 0 ? Number.NaN : over / less
    },
    options,
  )
  return bounds === undefined ? null : { value: sum(above) / under, ...bounds }
}

export interface BootstrapOptions {
  /** Number of resamples; more give more stable bounds. */
  resamples: number
  /** The same seed resamples the same tasks for every metric, so equal metrics have equal intervals. */
  seed: number
}

/**
 * A 95% percentile bootstrap interval. The statistic gets the resampled indexes and may return NaN if it is
 * undefined; undefined if it always is.
 */
export function bootstrap(
  size: number,
  statistic: (indexes: Int32Array) => number,
  options: BootstrapOptions,
): { low: number; high: number } | undefined {
  if (size === 0) return undefined
  const found: number[] = []
  for (const indexes of samplesOf(size, options)) {
    const value = statistic(indexes)
    if (Number.isFinite(value)) found.push(value)
  }
  if (found.length === 0) return undefined
  const sorted = Float64Array.from(found).sort()
  return {
    low: sorted[Math.floor(0.025 * (sorted.length - 1))]!,
    high: sorted[Math.ceil(0.975 * (sorted.length - 1))]!,
  }
}

/** Maximum number of indexes cached for the next metric: 16 MB. */
const MAX_CACHED = 4_000_000

let cached: { key: string; samples: Int32Array[] } | undefined

/** Resamples of a given size: most of the work, and the same for all metrics of a report. */
function samplesOf(size: number, { resamples, seed }: BootstrapOptions): Iterable<Int32Array> {
  const key = `${size} ${resamples} ${seed}`
  if (cached?.key === key) return cached.samples
  if (size * resamples > MAX_CACHED) return resample(size, resamples, seed)
  cached = { key, samples: [...resample(size, resamples, seed)] }
  return cached.samples
}

function* resample(size: number, resamples: number, seed: number): Generator<Int32Array> {
  const random = new Random('bootstrap', seed)
  for (let round = 0; round < resamples; round++)
    yield Int32Array.from({ length: size }, () => random.int(0, size - 1))
}

/** The 97.5% quantile of the normal distribution. */
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
  if (of === 0) throw new RangeError('a proportion of zero trials')
  const value = successes / of
  const spread = (Z / (1 + Z ** 2 / of)) * Math.sqrt((value * (1 - value)) / of + Z ** 2 / (4 * of ** 2))
  const center = (value + Z ** 2 / (2 * of)) / (1 + Z ** 2 / of)
  // Rounding must not move a bound past the value itself.
  return {
    value,
    low: Math.max(0, Math.min(value, center - spread)),
    high: Math.min(1, Math.max(value, center + spread)),
  }
}

/**
 * McNemar's exact test of two solvers on the same tasks, from the tasks that only one of them solved: the probability of a split
 * at least as uneven if both were equally good.
 *
 * @example
 * import { mcnemar } from 'chain-of-agents'
 *
 * console.log(mcnemar(24, 6)) // p: 24 tasks solved only by the first solver, 6 only by the second
 */
export function mcnemar(onlyFirst: number, onlySecond: number): number {
  const discordant = onlyFirst + onlySecond
  let logChance = -discordant * Math.LN2
  let tail = 0
  for (let solved = 0; solved <= Math.min(onlyFirst, onlySecond); solved++) {
    tail += Math.exp(logChance)
    logChance += Math.log(discordant - solved) - Math.log(solved + 1)
  }
  return Math.min(1, 2 * tail)
}

/**
 * The unbiased estimate of pass@k: the probability that at least one of k attempts is correct, given that c of n were. Unlike
 * 1 - (1 - c/n)^k, it has no bias.
 *
 * @example
 * import { passAtK } from 'chain-of-agents'
 *
 * console.log(passAtK(8, 3, 2)) // eight attempts, three correct: the probability that one of two is
 */
export function passAtK(n: number, c: number, k: number): number {
  if (k > n) throw new RangeError(`pass@${k} of ${n} attempts`)
  if (n - c < k) return 1
  let allWrong = 1
  for (let right = 0; right < c; right++) allWrong *= (n - k - right) / (n - right)
  return 1 - allWrong
}
