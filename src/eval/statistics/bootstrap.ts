import { Random } from '../../tasks/index.ts'

export interface BootstrapOptions {
  /** Draws; more make the bounds steadier. */
  resamples: number
  /** The same seed draws the same tasks for every figure, so that figures that are equal have equal intervals. */
  seed: number
}

/**
 * The bounds between which a statistic lies in 95 % of samples drawn from the sample itself, with replacement. It is
 * given the places that were drawn, of `size`, and may give NaN where it has no value; undefined if it never has one.
 */
export function bootstrap(
  size: number,
  statistic: (drawn: Int32Array) => number,
  { resamples, seed }: BootstrapOptions,
): { low: number; high: number } | undefined {
  if (size === 0) return undefined
  const random = new Random('bootstrap', seed)
  const drawn = new Int32Array(size)
  const found: number[] = []
  for (let round = 0; round < resamples; round++) {
    for (let at = 0; at < size; at++) drawn[at] = random.int(0, size - 1)
    const value = statistic(drawn)
    if (Number.isFinite(value)) found.push(value)
  }
  if (found.length === 0) return undefined
  const sorted = Float64Array.from(found).sort()
  return {
    low: sorted[Math.floor(0.025 * (sorted.length - 1))]!,
    high: sorted[Math.ceil(0.975 * (sorted.length - 1))]!,
  }
}
