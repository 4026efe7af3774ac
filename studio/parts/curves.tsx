import { type ReactNode, useMemo } from 'react'
import type { Curves } from '../../src/studio/api.ts'
import type { ChartPlan } from '../data/chart-plans.ts'
import { useGet } from '../data/queries.ts'
import { Chart, type Series } from './chart.tsx'
import { Loaded } from './screen.tsx'

interface CurveChartsProps {
  runs: readonly string[]
  stage: string
  plans: readonly ChartPlan[]
  smoothing?: number
  isLog?: boolean
  onStep?: ((step: number) => void) | undefined
}

const POINTS = 600

/** Charts of one stage, with the curves of several runs over each other. */
export function CurveCharts({
  runs,
  stage,
  plans,
  smoothing = 0,
  isLog = false,
  onStep,
}: CurveChartsProps): ReactNode {
  const names = [...new Set(plans.flatMap(({ lines }) => lines.map(([name]) => name)))]
  const found = useGet(
    '/api/metrics',
    {},
    { runs: [...runs], stage, names, points: POINTS },
    { enabled: names.length > 0, keep: true },
  )
  return (
    <Loaded of={found}>
      {(data) => (
        <div className="charts">
          {plans.map((plan) => (
            <PlanChart key={plan.title} {...{ plan, data, runs, smoothing, isLog, onStep }} />
          ))}
        </div>
      )}
    </Loaded>
  )
}

interface PlanChartProps {
  plan: ChartPlan
  data: Curves
  runs: readonly string[]
  smoothing: number
  isLog: boolean
  onStep: ((step: number) => void) | undefined
}

function PlanChart({ plan, data, runs, smoothing, isLog, onStep }: PlanChartProps): ReactNode {
  const series = useMemo(() => seriesOf(plan, data, runs, smoothing), [plan, data, runs, smoothing])
  if (series.length === 0) return null
  return (
    <Chart
      title={plan.title}
      note={plan.note}
      series={series}
      isShare={plan.isShare}
      isLog={isLog && plan.isShare !== true}
      onStep={onStep}
    />
  )
}

function seriesOf(plan: ChartPlan, { curves }: Curves, runs: readonly string[], smoothing: number): Series[] {
  const isOverlay = runs.length > 1
  return plan.lines.flatMap(([name, label], line) =>
    runs.flatMap((run, index) => {
      const curve = curves.find((each) => each.run === run && each.name === name)
      if (curve === undefined || curve.steps.length === 0) return []
      return [
        {
          name: isOverlay ? `${plan.lines.length > 1 ? `${label} · ` : ''}${run}` : label,
          steps: curve.steps,
          values: smoothed(curve.values, smoothing),
          color: isOverlay ? index : line,
          dash: line,
        },
      ]
    }),
  )
}

/** An exponential mean that begins unbiased, so that a constant stays what it is. */
function smoothed(values: readonly (number | null)[], weight: number): (number | null)[] {
  if (weight === 0) return [...values]
  let sum = 0
  let total = 0
  return values.map((value) => {
    if (value === null) return null
    sum = sum * weight + value * (1 - weight)
    total = total * weight + (1 - weight)
    return sum / total
  })
}
