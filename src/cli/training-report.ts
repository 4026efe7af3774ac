import { basename, join } from 'node:path'
import pc from 'picocolors'
import type { ProjectConfig } from '../pipeline/settings.ts'
import type { MetricRow, Run } from '../store/index.ts'
import { suiteName } from '../tasks/index.ts'
import { lastOfEachStep } from './commands/run-metrics.ts'
import { nextLines, shortPath } from './next.ts'
import { mark, table } from './output.ts'
import { sparkline } from './sparkline.ts'

/** The result of training, its most important curves, and what to do next. */
export function describeTraining(
  run: Run,
  stage: 'sft' | 'rl',
  summary: Record<string, number>,
  next: readonly (readonly string[])[],
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
    table(Object.entries(summary).map(([key, value]) => [`  ${key}`, formatted(value)])),
    ...names.flatMap((name) => curve(rows, name)),
    '',
    ...nextLines(next),
  ].join('\n')
}

/** A command that tries the trained model on tasks like those it was trained on. */
export function tryCommand(run: Run, config: ProjectConfig, stage: 'sft' | 'rl'): string[] {
  const model = shortPath(join(run.files.checkpoints, stage))
  const recorded = run.list('task', { limit: 1 })[0]
  const source = config.tasks.suites
    .map(suiteName)
    .find((name) => recorded === undefined || isSourceOf(name, recorded.suite))
  if (source !== undefined) return ['rollout', source, '--model', model]
  return ['solve', recorded!.question, '--grammar', recorded!.domain, '--model', model]
}

/** Tasks from a file have the file's name as their suite. */
const isSourceOf = (source: string, suite: string): boolean =>
  source === suite || basename(source).startsWith(`${suite}.`)

function curve(rows: readonly MetricRow[], name: string): string[] {
  const values = rows.map((row) => row[name]).filter((value) => typeof value === 'number')
  if (values.length < 2) return []
  return [
    `  ${name.padEnd(13)} ${sparkline(values)} ${pc.dim(`${formatted(values[0]!)} → ${formatted(values.at(-1)!)}`)}`,
  ]
}

function formatted(value: number): string {
  return Number.isInteger(value) ? value.toLocaleString('en') : value.toPrecision(4)
}
