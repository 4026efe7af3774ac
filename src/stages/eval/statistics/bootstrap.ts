import { Random } from '../../../base/random/index.ts'

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
  options: BootstrapOptions,
): { low: number; high: number } | undefined {
  if (size === 0) return undefined
  const found: number[] = []
  for (const drawn of samplesOf(size, options)) {
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

/** Places that are kept for the next figure: 16 MB. */
const MOST_KEPT = 4_000_000

let kept: { key: string; samples: Int32Array[] } | undefined

/** The samples of a size: most of the work, and the same for all figures of a report. */
function samplesOf(size: number, { resamples, seed }: BootstrapOptions): Iterable<Int32Array> {
  const key = `${size} ${resamples} ${seed}`
  if (kept?.key === key) return kept.samples
  if (size * resamples > MOST_KEPT) return draw(size, resamples, seed)
  kept = { key, samples: [...draw(size, resamples, seed)] }
  return kept.samples
}

function* draw(size: number, resamples: number, seed: number): Generator<Int32Array> {
  const random = new Random('bootstrap', seed)
  for (let round = 0; round < resamples; round++)
    yield Int32Array.from({ length: size }, () => random.int(0, size - 1))
}
