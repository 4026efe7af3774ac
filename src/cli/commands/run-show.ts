import { type Command, Option } from 'commander'
import pc from 'picocolors'

import { type RecordKind, recordKinds } from '../../schema/index.ts'
import { describeDamage, openRun, type Run } from '../../store/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { findRun } from '../find-run.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { wholeNumber } from '../numbers.ts'
import { emit, jsonText, mark, table } from '../output.ts'

interface ShowOptions extends GlobalOptions {
  kind?: RecordKind
  limit: number
  jsonl?: boolean
}

export function registerRunShow(parent: Command): void {
  parent
    .command('show')
    .argument('<run>', 'id or path of a run, or "latest"')
    .description("show a run's stages, records and damage, or its records of one kind")
    .addOption(new Option('-k, --kind <kind>', 'print records of this kind').choices(recordKinds))
    .option('-n, --limit <count>', 'maximum number of records', wholeNumber('--limit', 0), 20)
    .option('--jsonl', 'with --kind: print all records, one per line')
    .addHelpText(
      'after',
      '\nExamples:\n  $ coa run show latest\n  $ coa run show latest --kind sequence --jsonl > sequences.jsonl',
    )
    .action((name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ShowOptions>()
      using run = openRun(findRun(settings(options).config.project.runs, name))
      if (describeDamage(run.recovery).length > 0) process.exitCode = exitCodes.store.code
      if (options.kind === undefined) emit(options, overview(run), () => describe(run))
      else if (options.jsonl)
        for (const record of run.scan(options.kind)) process.stdout.write(`${jsonText(record)}\n`)
      else {
        const records = run.list(options.kind, { limit: options.limit })
        const more = run.count(options.kind) - records.length
        emit(
          options,
          records,
          () =>
            records.map((record) => jsonText(record)).join('\n') +
            (more > 0 ? pc.dim(`\n… ${more} more`) : ''),
        )
      }
    })
}

function overview(run: Run): Record<string, unknown> {
  return { ...run.manifest, dir: run.dir, records: run.kinds(), recovery: run.recovery }
}

function describe(run: Run): string {
  const { manifest, recovery } = run
  const stages = Object.entries(manifest.stages).map(([name, { status, startedAt, endedAt, summary }]) => [
    status === 'done' ? mark.good : mark.open,
    name,
    status,
    endedAt === undefined ? '' : `${((Date.parse(endedAt) - Date.parse(startedAt)) / 1000).toFixed(1)} s`,
    Object.entries(summary)
      .map(([key, value]) => `${key} ${JSON.stringify(value)}`)
      .join(', '),
  ])
  const records = Object.entries(run.kinds()).filter(([, count]) => count > 0)
  return [
    `${pc.bold(manifest.id)}  ${manifest.command}  ${pc.dim(`created ${manifest.createdAt} with coa ${manifest.coa}`)}`,
    run.dir,
    '',
    stages.length === 0 ? 'no stage has run' : table(stages),
    '',
    `records: ${records.map(([kind, count]) => `${count} ${kind}`).join(', ') || 'none'}`,
    ...recovery.torn.map((torn) => `${mark.open} ${JSON.stringify(torn)}`),
    ...describeDamage(recovery).map((damage) => `${mark.bad} ${damage}`),
    ...(recovery.uncheckedLines > 0
      ? [
          `${mark.open} ${recovery.uncheckedLines} records have no checksum: written by an older version of coa`,
        ]
      : []),
  ].join('\n')
}
