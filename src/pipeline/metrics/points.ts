import type { MetricRow } from '../../store/index.ts'

export interface MetricPoint {
  /** Milliseconds since 1970. */
  time: number
  step: number
  /** Stage and metric, such as rl/reward. */
  name: string
  value: number
}

/** Every number of every row with a step. Values that are not finite are left out: viewers cannot show them. */
export function* pointsOf(rows: Iterable<MetricRow>): Generator<MetricPoint> {
  for (const { t, stage, step, ...metrics } of rows) {
    if (typeof step !== 'number') continue
    for (const [name, value] of Object.entries(metrics)) {
      if (typeof value !== 'number' || !Number.isFinite(value)) continue
      yield { time: Number(t), step, name: `${stage ?? 'run'}/${name}`, value }
    }
  }
}
