import { percent } from '../../base/text/index.ts'
import type { Estimate } from '../../schema/index.ts'

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
export function points({ value, low, high }: Estimate): string {
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

/** Small sums need their digits: a task costs fractions of a cent. */
export function money(value: number | null): string {
  return value === null ? '–' : value >= 100 ? amount(value) : value.toPrecision(3)
}

export function probability(p: number): string {
  return p < 0.001 ? 'p < 0.001' : `p = ${p.toFixed(3)}`
}
