import type { MetricRow } from '../../../store/index.ts'

/** A problem found in a training run. */
export interface Finding {
  /** The rule that found it. */
  id: string
  step: number
  /** The observation, with numbers. */
  what: string
  /** The most likely cause. */
  cause: string
  advice: string
}

/** Examines the rows of all steps so far, oldest first, one per step. Undefined if nothing is wrong. */
export type Rule = (rows: readonly MetricRow[]) => Omit<Finding, 'id' | 'step'> | undefined

/** Number of steps averaged before metrics are compared. */
export const WINDOW = 5

/** Number of recent steps that absolute thresholds look at. */
export const RECENT = 3

/** A metric of a row; NaN if missing. */
export function metric(row: MetricRow | undefined, name: string): number {
  const value = row?.[name]
  return typeof value === 'number' ? value : Number.NaN
}

/** The mean of a metric over the rows that have it; NaN if none does. */
export function mean(rows: readonly MetricRow[], name: string): number {
  const values = rows.map((row) => metric(row, name)).filter(Number.isFinite)
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** The first and the last steps, if there are enough that they do not overlap. */
export function ends(
  rows: readonly MetricRow[],
): { early: readonly MetricRow[]; late: readonly MetricRow[] } | undefined {
  if (rows.length < 2 * WINDOW) return undefined
  return { early: rows.slice(0, WINDOW), late: rows.slice(-WINDOW) }
}

export function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(2)
}
