import { stepRows } from '../../stages/rl/index.ts'
import { sftCurve } from '../../stages/sft/index.ts'
import type { MetricRow } from '../../store/index.ts'
import { type Chart, drawChart, type Series } from './chart.ts'
import { type Html, html } from './html.ts'

/** How the trainings of a run went; undefined where there was none. */
export function curvesSection(rows: readonly MetricRow[]): Html | undefined {
  const sft = sftCurve(rows) as unknown as MetricRow[]
  // Measured before the first step, where it was: the row that begins a training.
  const start = rows.findLast((row) => row['stage'] === 'rl' && row['begins'] === true)
  const rl = [...(start === undefined ? [] : [start]), ...stepRows(rows)]
  const parts = [
    ...part('Supervised fine-tuning', sft, sftCharts(sft)),
    ...part('Reinforcement', rl, rlCharts(rl)),
  ]
  return parts.length === 0
    ? undefined
    : html`<section aria-labelledby="training"><h2 id="training">Training</h2>${parts}</section>`
}

function part(title: string, rows: readonly MetricRow[], charts: readonly Chart[]): Html[] {
  const drawn = charts.map(drawChart).filter((chart) => chart !== undefined)
  if (drawn.length === 0) return []
  const steps = rows.filter((row) => row['step'] !== 0).length
  return [
    html`<h3>${title} <small>${steps} ${steps === 1 ? 'step' : 'steps'}</small></h3><div class="charts">${drawn}</div>`,
  ]
}

function sftCharts(rows: readonly MetricRow[]): Chart[] {
  return [
    {
      title: 'Loss',
      note: 'mean over the tokens the model writes itself; lower is better',
      series: [series(rows, 'loss', 'trained on'), series(rows, 'evalLoss', 'kept out')],
    },
    {
      title: 'Rollouts on tasks kept out',
      series: [series(rows, 'accuracy', 'right answers'), series(rows, 'wellFormed', 'well formed')],
      isShare: true,
    },
  ]
}

function rlCharts(rows: readonly MetricRow[]): Chart[] {
  return [
    {
      title: 'Reward',
      note: 'mean of the rollouts of a step',
      series: [series(rows, 'reward_mean', 'reward')],
    },
    {
      title: 'Right answers',
      series: [
        series(rows, 'pass_rate', 'while practising'),
        series(rows, 'eval_accuracy', 'on tasks kept out'),
        series(rows, 'well_formed_share', 'well formed'),
      ],
      isShare: true,
    },
    {
      title: 'Entropy',
      note: 'nats a sampled token; near 0 the model no longer tries anything new',
      series: [series(rows, 'entropy', 'entropy')],
    },
    {
      title: 'Length',
      note: 'tokens of a rollout, mean',
      series: [
        series(rows, 'tokens_sampled_mean', 'written by the model'),
        series(rows, 'tokens_inserted_mean', 'inserted by tools'),
      ],
    },
    { title: 'Tool calls', note: 'of a rollout, mean', series: [series(rows, 'turns_mean', 'calls')] },
  ]
}

/** A figure that was not finite is stored as a word, and kept: whoever looks should see that it was lost. */
function series(rows: readonly MetricRow[], key: string, name: string): Series {
  return {
    name,
    points: rows.flatMap((row) => {
      const [step, value] = [row['step'], row[key]]
      return typeof step !== 'number' || value === undefined || value === null
        ? []
        : [{ step, value: Number(value) }]
    }),
  }
}
