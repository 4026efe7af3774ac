import { percent } from '../../base/text/index.ts'
import type { Estimate, PairReport } from '../../schema/index.ts'

const hundredth = (share: number): string => (100 * share).toFixed(1)

/** "84.0% [80.1, 87.3]" */
export function percentWithin(estimate: Estimate | null): string {
  return estimate === null ? '–' : `${percent(estimate.value)} ${bounds(estimate)}`
}

/** The interval of a share, in percent. */
export function bounds({ low, high }: Estimate): string {
  return `[${hundredth(low)}, ${hundredth(high)}]`
}

/** Percentage points with their sign. */
function points({ value, low, high }: Estimate): string {
  const signed = (share: number): string => `${share < 0 ? '−' : '+'}${hundredth(Math.abs(share))}`
  return `${signed(value)} points [${signed(low)}, ${signed(high)}]`
}

export function amount(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–'
  const digits = Math.abs(value) < 100 && !Number.isInteger(value) ? 1 : 0
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

export function amountWithin(estimate: Estimate | null): string {
  if (estimate === null) return '–'
  return `${amount(estimate.value)} [${amount(estimate.low)}, ${amount(estimate.high)}]`
}

/** Small amounts need more digits: a task costs fractions of a cent. */
export function money(value: number | null): string {
  return value === null ? '–' : value >= 100 ? amount(value) : value.toPrecision(3)
}

export function probability(p: number): string {
  return p < 0.001 ? 'p < 0.001' : `p = ${p.toFixed(3)}`
}

/** A comparison in two sentences: tokens first, and whether accuracy is comparable. */
export function headline({ reference, solver, saved, difference, isEqualOrBetter, p }: PairReport): string {
  const accuracy =
    difference === null
      ? 'no task was attempted by both'
      : `accuracy ${points(difference)}, McNemar ${probability(p)}`
  if (saved.once === null || saved.billed === null)
    return `${solver} vs. ${reference}: ${accuracy}. Their token counts cannot be compared.`
  const { value } = saved.once
  const than = value < 0 ? `more tokens than ${reference}` : `fewer tokens than ${reference}`
  const share = value < 0 ? percent(-value) : percentWithin(saved.once)
  const standing = isEqualOrBetter ? 'at equal or better accuracy' : 'but at lower accuracy'
  return `${solver} needs ${share} ${than} ${standing} (${accuracy}). With every prompt billed in full: ${percentWithin(saved.billed)}.`
}

/** How to read the metrics. */
export function notes({
  settings,
  solvers,
}: {
  settings: { resamples: number; seed: number; picker: string }
  solvers: readonly { kind: string; attempts: number; tokenizer: string }[]
}): string[] {
  const several = solvers.some(({ attempts }) => attempts > 1)
  return [
    'Accuracy (all): every attempt counts. A missing answer is wrong; undecided answers and attempts that failed twice outside the solver count as not correct. Accuracy (decided): only attempts with a verdict.',
    'Once: each token is counted once, as on a server with a prefix cache. Billed: every request is charged for its whole prompt and its output. Failed attempts are not included in these means.',
    `Intervals are 95% confidence intervals: Wilson for single attempts, otherwise a task-level bootstrap with ${settings.resamples.toLocaleString('en')} resamples (seed ${settings.seed}).`,
    'McNemar: exact test on the first attempts, where both have a verdict.',
    ...(several
      ? [
          'pass@k is the unbiased estimate of the probability that at least one of k attempts is correct. avg@k is the mean over all attempts, which equals pass@1.',
          ...(settings.picker === 'oracle' || settings.picker === 'verifier'
            ? ['Best: picked by the checker, which knows the gold answer; an upper bound for any picker.']
            : []),
        ]
      : []),
    ...(new Set(solvers.map(({ tokenizer }) => tokenizer)).size > 1
      ? ['These solvers use different tokenizers, so their token counts are not comparable.']
      : []),
    ...(solvers.some(({ kind }) => kind === 'scripted team')
      ? [
          'The team is scripted: it knows how the tasks were generated. Its accuracy says nothing about a team of models.',
        ]
      : []),
  ]
}
