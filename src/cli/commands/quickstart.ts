import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import pc from 'picocolors'
import { type ProjectConfig, writeToml } from '../../config/index.ts'
import { runStages, type StageOutcome, stages } from '../../pipeline/index.ts'
import { createRun, listRuns, openRun, type Run } from '../../store/index.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { interruptible } from '../interrupt.ts'
import { emit, mark, table } from '../output.ts'
import { paintMask } from '../paint.ts'
import { showProgress } from '../progress.ts'
import { version } from '../version.ts'

const COMMAND = 'coa quickstart'

export function registerQuickstart(program: Command): void {
  program
    .command('quickstart')
    .description('the whole method from end to end, as far as it goes; goes on where it was interrupted')
    .option('--fresh', 'start a new run even if one was interrupted')
    .addHelpText('after', '\nExamples:\n  $ coa quickstart\n  $ coa quickstart --json')
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { fresh?: boolean }>()
      const { config } = settings(options)
      using run = unfinishedRun(config, options.fresh === true) ?? newRun(config)
      if (!options.json) process.stderr.write(pc.dim(`${run.dir}\n`))
      const observe = showProgress()
      const outcomes = await interruptible((signal) => runStages(stages, { run, config, observe, signal }))
      observe.done()
      emit(options, { run: run.id, dir: run.dir, stages: outcomes }, () => describe(run, outcomes))
    })
}

function newRun(config: ProjectConfig): Run {
  return createRun(config.project.runs, { command: COMMAND, coa: version, configToml: writeToml(config) })
}

/** The newest quickstart, if it stopped before its end, has the same settings and nobody is working on it. */
function unfinishedRun(config: ProjectConfig, fresh: boolean): Run | undefined {
  if (fresh) return undefined
  const found = listRuns(config.project.runs).find(
    (run) => run.problem === undefined && run.command === COMMAND,
  )
  if (found === undefined || found.lockedBy !== undefined) return undefined
  const stopped = Object.entries(found.stages ?? {}).find(([, stage]) => stage.status !== 'done')
  if (stopped === undefined) return undefined
  const settingsFile = join(found.dir, 'config.toml')
  if (!existsSync(settingsFile) || readFileSync(settingsFile, 'utf8') !== writeToml(config)) {
    process.stderr.write(
      `${found.id} stopped in ${stopped[0]}, but with other settings; starting a new run\n`,
    )
    return undefined
  }
  process.stderr.write(`going on with ${found.id}, which stopped in ${stopped[0]}\n`)
  return openRun(found.dir, { write: true, command: COMMAND })
}

function describe(run: Run, outcomes: StageOutcome[]): string {
  const rows = outcomes.map(({ name, purpose, status, figures }) => {
    const numbers = Object.entries(figures)
      .map(([key, value]) => `${value} ${key}`)
      .join(', ')
    const missing = status === 'missing'
    return [
      missing ? mark.open : mark.good,
      name,
      missing ? pc.dim(`${purpose}: not part of the quickstart yet`) : `${purpose}: ${numbers}`,
    ]
  })
  const missing = outcomes.filter((outcome) => outcome.status === 'missing').length
  const example = run.get('sequence', 'example-math')
  return [
    ...(example === undefined
      ? []
      : [
          pc.bold('One model, every role. What it is trained on, and what is masked:'),
          '',
          example.spans.map((span) => paintMask(span.trainable, span.text)).join(''),
          '',
        ]),
    table(rows),
    '',
    `${outcomes.length - missing} of ${outcomes.length} stages are part of the quickstart; the others have commands of their own: coa sft, coa rl, coa eval.`,
    `Everything made lies in ${run.dir}.`,
    '',
    'Next:',
    `  coa run show ${run.id}`,
    `  coa grammar show web --example`,
    '  coa init my-agents',
  ].join('\n')
}
