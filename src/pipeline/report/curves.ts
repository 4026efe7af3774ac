import { stepRows } from '../../stages/rl/index.ts'
import { sftCurve } from '../../stages/sft/index.ts'
import type { MetricRow } from '../../store/index.ts'
import { type Chart, drawChart, type Series } from './chart.ts'
import { type Html, html } from './html.ts'

/** The training curves of a run; undefined if there was no training. */
export function curvesSection(rows: readonly MetricRow[]): Html | undefined {
  const sft = sftCurve(rows) as unknown as MetricRow[]
  // The row that starts a training run may have an evaluation before the first step.
  const start = rows.findLast((row) => row['stage'] === 'rl' && row['begins'] === true)
  const rl = [...(start === undefined ? [] : [start]), ...stepRows(rows)]
  const parts = [
    ...part('Supervised fine-tuning', sft, sftCharts(sft)),
    ...part('Reinforcement learning', rl, rlCharts(rl)),
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
      note: 'mean over trained tokens; lower is better',
      series: [series(rows, 'loss', 'training'), series(rows, 'evalLoss', 'held out')],
    },
    {
      title: 'Rollouts on held-out tasks',
      series: [series(rows, 'accuracy', 'accuracy'), series(rows, 'wellFormed', 'well formed')],
      isShare: true,
    },
  ]
}

function rlCharts(rows: readonly MetricRow[]): Chart[] {
  return [
    {
      title: 'Reward',
      note: 'mean over the rollouts of a step',
      series: [series(rows, 'reward_mean', 'reward')],
    },
    {
      title: 'Accuracy',
      series: [
        series(rows, 'pass_rate', 'training rollouts'),
        series(rows, 'eval_accuracy', 'held-out tasks'),
        series(rows, 'well_formed_share', 'well formed'),
      ],
      isShare: true,
    },
    {
      title: 'Entropy',
      note: 'nats per sampled token; near 0 the model no longer explores',
      series: [series(rows, 'entropy', 'entropy')],
    },
    {
      title: 'Length',
      note: 'mean tokens per rollout',
      series: [
        series(rows, 'tokens_sampled_mean', 'written by the model'),
        series(rows, 'tokens_inserted_mean', 'inserted by tools'),
      ],
    },
    { title: 'Tool calls', note: 'mean per rollout', series: [series(rows, 'turns_mean', 'calls')] },
  ]
}

/** A value that is not finite is stored as a word and kept, so that the reader sees that it was lost. */
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
