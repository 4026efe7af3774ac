import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import pc from 'picocolors'
import { ensureFolder } from '../../base/files/index.ts'
import { type MetricRow, openRun } from '../../store/index.ts'
import { findRun } from '../find-run.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { interruptible } from '../interrupt.ts'
import { emit, mark, table } from '../output.ts'
import { sparkline } from '../sparkline.ts'

interface MetricsOptions extends GlobalOptions {
  stage?: string
  tensorboard?: string
  otlp?: string
  show?: string
}

export function registerRunMetrics(parent: Command): void {
  parent
    .command('metrics')
    .argument('<run>', 'id or path of a run, or "latest"')
    .description('show metric curves of a run, or export them to TensorBoard or OpenTelemetry')
    .option('--stage <name>', 'only one stage, such as sft or rl')
    .option('--show <names>', 'print these metrics, row by row, such as minutes,eval_accuracy')
    .option('--tensorboard <folder>', 'write a TensorBoard event file to this folder')
    .option('--otlp <url>', 'send the metrics to an OpenTelemetry collector, such as http://localhost:4318')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa run metrics latest --stage rl',
        '  $ coa run metrics latest --stage rl --show step,minutes,eval_accuracy',
        '  $ coa run metrics latest --tensorboard logs/latest   # then: tensorboard --logdir logs',
        '  $ coa run metrics latest --json',
      ].join('\n'),
    )
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<MetricsOptions>()
      using run = openRun(findRun(settings(options).config.project.runs, name, 'training'))
      const rows = lastOfEachStep([...run.metrics()]).filter(
        ({ stage }) => options.stage === undefined || stage === options.stage,
      )
      const { otlpMetrics, sendOtlp, tensorboardEvents } = await import('../../stages/export/index.ts')
      const notes: string[] = []
      if (options.tensorboard !== undefined) {
        ensureFolder(options.tensorboard)
        const file = join(options.tensorboard, `events.out.tfevents.${run.id}`)
        writeFileSync(file, tensorboardEvents(rows))
        notes.push(`${mark.good} ${file}`)
      }
      const { otlp } = options
      if (otlp !== undefined) {
        await interruptible((signal) => sendOtlp(otlp, otlpMetrics(rows, run.id), signal))
        notes.push(`${mark.good} sent to ${otlp}`)
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
