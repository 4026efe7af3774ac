import type { MetricRow } from '../../../store/index.ts'

export interface MetricPoint {
  /** Milliseconds since 1970. */
  time: number
  step: number
  /** Stage and figure, such as rl/reward. */
  name: string
  value: number
}

/** Every number of every row that has a step. What is not finite is left out: viewers cannot show it. */
export function* pointsOf(rows: Iterable<MetricRow>): Generator<MetricPoint> {
  for (const { t, stage, step, ...figures } of rows) {
    if (typeof step !== 'number') continue
    for (const [name, value] of Object.entries(figures)) {
      if (typeof value !== 'number' || !Number.isFinite(value)) continue
      yield { time: Number(t), step, name: `${stage ?? 'run'}/${name}`, value }
    }
  }
}
