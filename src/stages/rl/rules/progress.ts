import type { MetricRow } from '../../../store/index.ts'
import { figure, mean, WINDOW } from './rule.ts'

/** Pass rates are noisy: windows twice as long as usual are compared. */
export const LONG = 2 * WINDOW

/** Standard error of a difference of two means over half of the rows each, by how much neighbours differ. */
export function noise(rows: readonly MetricRow[]): number {
  const steps = rows.slice(1).map((row, at) => figure(row, 'pass_rate') - figure(rows[at], 'pass_rate'))
  const variance = steps.reduce((sum, step) => sum + step * step, 0) / (2 * Math.max(1, steps.length))
  return Math.max(0.005, Math.sqrt((4 * variance) / rows.length))
}

/** Where harder tasks are preferred as the model improves, the pass rate stands still and the accuracy rises. */
export function stillMeasuresBetter(rows: readonly MetricRow[]): boolean {
  const best = (part: readonly MetricRow[]): number =>
    Math.max(...part.map((row) => figure(row, 'eval_accuracy')).filter(Number.isFinite))
  return best(rows.slice(-LONG)) > best(rows.slice(0, -LONG)) + 0.01
}

/** The window before the last one with the highest pass rate. */
export function bestBefore(rows: readonly MetricRow[]): { from: number; rate: number } {
  let best = { from: 0, rate: Number.NEGATIVE_INFINITY }
  for (let from = 0; from + 2 * LONG <= rows.length; from++) {
    const rate = mean(rows.slice(from, from + LONG), 'pass_rate')
    if (rate > best.rate) best = { from, rate }
  }
  return best
}
