import type { MetricRow } from '../../../store/index.ts'

/** Something that goes wrong in a training, in words. */
export interface Finding {
  /** Which rule found it. */
  id: string
  /** The step it was seen at. */
  step: number
  /** What can be seen, with figures. */
  what: string
  /** What it most likely comes from. */
  cause: string
  /** What to try. */
  advice: string
}

/** Looks at the rows of all steps so far, oldest first, one a step. Undefined where there is nothing to say. */
export type Rule = (rows: readonly MetricRow[]) => Omit<Finding, 'id' | 'step'> | undefined

/** How many steps make a figure worth comparing. */
export const WINDOW = 5

/** A figure of a row; NaN where it is not there. */
export function figure(row: MetricRow | undefined, name: string): number {
  const value = row?.[name]
  return typeof value === 'number' ? value : Number.NaN
}

/** The mean of a figure over rows that have it; NaN where none does. */
export function mean(rows: readonly MetricRow[], name: string): number {
  const values = rows.map((row) => figure(row, name)).filter(Number.isFinite)
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** The first and the last steps, where there are enough that they do not overlap. */
export function ends(
  rows: readonly MetricRow[],
): { early: readonly MetricRow[]; late: readonly MetricRow[] } | undefined {
  if (rows.length < 2 * WINDOW) return undefined
  return { early: rows.slice(0, WINDOW), late: rows.slice(-WINDOW) }
}

export function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(2)
}
