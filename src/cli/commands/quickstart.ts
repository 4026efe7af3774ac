import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import pc from 'picocolors'
import { Spotlight } from '../../base/progress/index.ts'
import { type ProjectConfig, readRunSettings } from '../../pipeline/settings.ts'
import { recipeFile, writeToml } from '../../settings/index.ts'
import { describeOwner, listRuns, openRun, type Run, readSettingsFile } from '../../store/index.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { interruptible } from '../interrupt.ts'
import type { LiveView } from '../live/contract.ts'
import { openLiveView } from '../live-view.ts'
import { inRun, newRun } from '../new-run.ts'
import { emit } from '../output.ts'

const COMMAND = 'coa quickstart'

interface QuickstartOptions extends GlobalOptions {
  fast?: boolean
  fresh?: boolean
}

export function registerQuickstart(program: Command): void {
  program
    .command('quickstart')
    .description('the whole method from end to end, on this machine alone; goes on where it was interrupted')
    .option('--fast', 'all stages with small numbers, to see how they go together')
    .option('--fresh', 'start a new run even if one was interrupted')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa quickstart',
        '  $ coa quickstart --fast',
        '  $ coa quickstart --set tasks.count=100 --set rl.steps=5',
        '  $ coa quickstart --json > result.json',
        '\nIts settings are recipes/quickstart.toml; coa.toml, variables and --set win over them.',
      ].join('\n'),
    )
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<QuickstartOptions>()
      const { config } = settings(
        options,
        {},
        {
          under: [recipeFile('quickstart')],
          over: options.fast === true ? [recipeFile('quickstart-fast')] : [],
        },
      )
      const { modelFolder } = await import('../../agent/index.ts')
      // Rather now than after the team has been at work.
      modelFolder(config.student.model)
      const { teamOf } = await import('../../stages/teach/index.ts')
      await teamOf(config)
      const { stages } = await import('../../pipeline/index.ts')
      const { evalReportOf } = await import('../../stages/eval/index.ts')
      const names = stages.map(({ name }) => name)
      const unfinished = unfinishedRun(config, names, options.fresh === true)
      using run = unfinished ?? newRun(config, COMMAND)
      const view = openLiveView(stages)
      if (options.json !== true) view.log(pc.dim(run.dir))
      const began = performance.now()
      const outcomes = await inRun(run, unfinished === undefined, () => work(run, config, view)).finally(() =>
        view.done(),
      )
      const seconds = (performance.now() - began) / 1000
      const { describeQuickstart, writePage } = await import('../quickstart-report.ts')
      const report = evalReportOf(run)!
      const page = writePage(run, report)
      const { items: _, ...figures } = report
      emit(
        options,
        { run: run.id, dir: run.dir, seconds, stages: outcomes, eval: figures, report: page },
        () => describeQuickstart({ run, report, page, seconds }),
      )
    })
}

async function work(run: Run, config: ProjectConfig, view: LiveView) {
  const { runStages, stages } = await import('../../pipeline/index.ts')
  return interruptible((signal) =>
    runStages(stages, {
      run,
      config,
      signal,
      observe: view.observe,
      onMetric: view.metric,
      onRuntime: view.log,
      onFinding: view.log,
      ...(view.showsText ? { spotlight: new Spotlight(view) } : {}),
      onStage: (stage, status, figures) => {
        if (status === 'interrupted') return
        // What the stage before wrote last is not its work.
        if (status === 'running') view.trajectory('')
        if (status === 'running' || status === 'failed') view.stage(stage.name, status)
        else view.stage(stage.name, 'done', stage.describe(figures))
      },
    }),
  )
}

/** The newest quickstart, if it stopped before its end, has the same settings and nobody is working on it; or why not. */
function unfinishedRun(config: ProjectConfig, names: readonly string[], fresh: boolean): Run | undefined {
  if (fresh) return undefined
  const runs = listRuns(config.project.runs)
  // A run whose manifest cannot be read does not say what it is; it may be the one that is looked for.
  const found = runs.find((run) => run.command === COMMAND) ?? runs.find((run) => run.problem !== undefined)
  if (found === undefined) return undefined
  const notResumed = (why: string): undefined => {
    process.stderr.write(`${found.id} is not resumed: ${why}; starting a new run\n`)
    return undefined
  }
  if (found.problem !== undefined) return notResumed(found.problem)
  const stopped = names.find((name) => found.stages?.[name]?.status !== 'done')
  if (stopped === undefined) return undefined
  if (found.lockedBy !== undefined)
    return notResumed(`it is being written by ${describeOwner(found.lockedBy)}`)
  const settingsFile = join(found.dir, 'config.toml')
  if (!existsSync(settingsFile)) return notResumed('it has lost its config.toml')
  readSettingsFile(settingsFile)
  if (writeToml(readRunSettings(settingsFile)) !== writeToml(config))
    return notResumed(`it stopped in ${stopped}, but with other settings`)
  process.stderr.write(`going on with ${found.id}, which stopped in ${stopped}\n`)
  return openRun(found.dir, { write: true, command: COMMAND })
}
