import type { Command } from 'commander'
import pc from 'picocolors'
import { type SinkName, sinkNames } from '../../pipeline/metrics/sink.ts'
import { type MetricRow, openRun } from '../../store/index.ts'
import { findRun } from '../find-run.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { emit, mark, table } from '../output.ts'
import { sparkline } from '../sparkline.ts'

interface MetricsOptions extends GlobalOptions, Partial<Record<SinkName, string>> {
  stage?: string
  show?: string
}

export function registerRunMetrics(parent: Command): void {
  parent
    .command('metrics')
    .argument('<run>', 'id or path of a run, or "latest"')
    .description('show metric curves of a run, or send them and sample chains to a tracker')
    .option('--stage <name>', 'only one stage, such as sft or rl')
    .option('--show <names>', 'print these metrics, row by row, such as minutes,eval_accuracy')
    .option('--tensorboard <folder>', 'write a TensorBoard event file to this folder')
    .option('--otlp <url>', 'send the metrics to an OpenTelemetry collector, such as http://localhost:4318')
    .option('--mlflow <url>', 'send them to an MLflow server, such as http://localhost:5000')
    .option('--wandb <project>', 'send them to Weights & Biases: PROJECT or ENTITY/PROJECT')
    .option('--trackio <project>', 'send them to Trackio')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa run metrics latest --stage rl',
        '  $ coa run metrics latest --stage rl --show step,minutes,eval_accuracy',
        '  $ coa run metrics latest --tensorboard logs   # then: tensorboard --logdir logs',
        '  $ coa run metrics latest --mlflow http://localhost:5000',
        '  $ WANDB_MODE=offline coa run metrics latest --wandb my-project   # then: wandb sync wandb/latest-run',
        '  $ coa run metrics latest --json',
        '\nThe sinks of [metrics] in coa.toml get the same while the run trains.',
      ].join('\n'),
    )
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<MetricsOptions>()
      const { config } = settings(options)
      using run = openRun(findRun(config.project.runs, name, 'training'))
      const rows = lastOfEachStep([...run.metrics()]).filter(
        ({ stage }) => options.stage === undefined || stage === options.stage,
      )
      const notes: string[] = []
      for (const sink of sinkNames) {
        const target = options[sink]
        if (target === undefined) continue
        const { sendRun } = await import('../../pipeline/metrics/send-run.ts')
        const { points, chains } = await sendRun(run, rows, config, {
          name: sink,
          target,
          stage: options.stage,
        })
        notes.push(`${mark.good} ${sink} ${target}: ${points} values, ${chains} chains`)
      }
      const names = options.show?.split(',').map((one) => one.trim())
      const shown = names === undefined ? undefined : rowsWith(rows, names)
      emit(options, { run: run.id, rows: shown ?? rows }, () =>
        notes.length > 0
          ? notes.join('\n')
          : (shown ?? rows).length === 0
            ? names === undefined
              ? 'no metrics recorded'
              : `no row has ${names.join(' and ')}`
            : shown === undefined
              ? curves(rows)
              : table([names!, ...shown.map((row) => names!.map((name) => shortValue(row[name])))]),
      )
    })
}

/** The metrics of each stage's last training: a row replaces earlier rows with the same or a later step. */
export function lastOfEachStep(rows: readonly MetricRow[]): MetricRow[] {
  let kept: MetricRow[] = []
  for (const row of rows) {
    const { stage, step, kind } = row
    const isOlder = (other: MetricRow): boolean =>
      other['stage'] === stage && other['kind'] === kind && Number(other['step']) >= Number(step)
    // A row that continues its curve replaces nothing.
    if (isOlder(kept.findLast((other) => other['stage'] === stage && other['kind'] === kind) ?? {}))
      kept = kept.filter((other) => !isOlder(other))
    kept.push(row)
  }
  return kept
}

/** The rows that have all of these metrics, with nothing else. */
export function rowsWith(rows: readonly MetricRow[], names: readonly string[]): MetricRow[] {
  return rows
    .filter((row) => names.every((name) => row[name] !== undefined))
    .map((row) => Object.fromEntries(names.map((name) => [name, row[name]])) as MetricRow)
}

const shortValue = (value: unknown): string => (typeof value === 'number' ? short(value) : String(value))

function curves(rows: readonly MetricRow[]): string {
  const lines: string[][] = []
  for (const stage of new Set(rows.map((row) => row['stage']))) {
    const own = rows.filter((row) => row['stage'] === stage)
    lines.push([pc.bold(String(stage ?? 'run')), `${own.length} rows`])
    for (const name of new Set(own.flatMap((row) => Object.keys(row)))) {
      const values = own.map((row) => row[name]).filter((value) => typeof value === 'number')
      if (name === 't' || name === 'step' || values.length < 2) continue
      lines.push([`  ${name}`, sparkline(values), `${short(values[0]!)} → ${short(values.at(-1)!)}`])
    }
  }
  return table(lines)
}

function short(value: number): string {
  return Number.isInteger(value) ? value.toLocaleString('en') : value.toPrecision(4)
}
