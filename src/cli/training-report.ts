import pc from 'picocolors'
import type { MetricRow, Run } from '../store/index.ts'
import { lastOfEachStep } from './commands/run-metrics.ts'
import { mark, table } from './output.ts'
import { sparkline } from './sparkline.ts'

/** What came of a training, its most telling curves, and what to do next. */
export function describeTraining(
  run: Run,
  stage: 'sft' | 'rl',
  summary: Record<string, number>,
  next: readonly string[],
  /** Why it stopped before its last step, if it did. */
  ended?: string,
): string {
  const rows = lastOfEachStep([...run.metrics()]).filter((row) => row['stage'] === stage)
  const names =
    stage === 'sft'
      ? ['loss', 'evalLoss', 'accuracy']
      : ['reward_mean', 'pass_rate', 'eval_accuracy', 'entropy']
  return [
    `${mark.good} ${run.files.checkpoints}/${stage}`,
    ...(ended === undefined ? [] : [`  ${ended}`]),
    table(Object.entries(summary).map(([key, value]) => [`  ${key}`, figure(value)])),
    ...names.flatMap((name) => curve(rows, name)),
    '',
    'Next:',
    ...next.map((command) => `  ${command}`),
  ].join('\n')
}

function curve(rows: readonly MetricRow[], name: string): string[] {
  const values = rows.map((row) => row[name]).filter((value) => typeof value === 'number')
  if (values.length < 2) return []
  return [
    `  ${name.padEnd(13)} ${sparkline(values)} ${pc.dim(`${figure(values[0]!)} → ${figure(values.at(-1)!)}`)}`,
  ]
}

function figure(value: number): string {
  return Number.isInteger(value) ? value.toLocaleString('en') : value.toPrecision(4)
}
