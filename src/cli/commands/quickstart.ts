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
    .description(
      'run the whole pipeline, from tasks to a comparison of team and models; resumes if interrupted',
    )
    .option('--fast', 'use a small configuration that exercises every stage')
    .option('--fresh', 'start a new run instead of resuming an interrupted one')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa quickstart',
        '  $ coa quickstart --fast',
        '  $ coa quickstart --set tasks.count=100 --set rl.steps=5',
        '  $ coa quickstart --json > result.json',
        '\nThe settings are in recipes/quickstart.toml; coa.toml, environment variables and --set override them.',
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
      // Fail before the team has done any work.
      modelFolder(config.student.model)
      await readyEngine(config)
      const { teamOf } = await import('../../stages/teach/index.ts')
      await teamOf(config)
      const { stages } = await import('../../pipeline/index.ts')
      const { evalReportOf } = await import('../../stages/eval/index.ts')
      const names = stages.map(({ name }) => name)
      const unfinished = unfinishedRun(config, names, options.fresh === true)
      using run = unfinished ?? newRun(config, COMMAND)
      const view = openLiveView(stages)
      if (options.json !== true) view.log(pc.dim(run.dir))
      const started = performance.now()
      const outcomes = await inRun(run, unfinished === undefined, () => work(run, config, view)).finally(() =>
        view.done(),
      )
      const seconds = (performance.now() - started) / 1000
      const { describeQuickstart, writePage } = await import('../quickstart-report.ts')
      const report = evalReportOf(run)!
      const page = writePage(run, report)
      const { items: _, ...summary } = report
      emit(
        options,
        { run: run.id, dir: run.dir, seconds, stages: outcomes, eval: summary, report: page },
        () => describeQuickstart({ run, report, page, seconds }),
      )
    })
}

/** Downloads the engine, if it is missing, before the team has done any work, which would be in vain without network. */
async function readyEngine({ engine }: ProjectConfig): Promise<void> {
  if (engine.driver !== 'embedded') return
  const { installBuild, neededBuild } = await import('../../engine/index.ts')
  await installBuild(neededBuild(engine.device), {
    onStatus: (line) => process.stderr.write(`${line}\n`),
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
        // Clear the previous stage's trajectory.
        if (status === 'running') view.trajectory('')
        if (status === 'running' || status === 'failed') view.stage(stage.name, status)
        else view.stage(stage.name, 'done', stage.describe(figures))
      },
    }),
  )
}

/** The newest quickstart run, if it is unfinished, has the same settings and is not locked. Otherwise prints why not. */
function unfinishedRun(config: ProjectConfig, names: readonly string[], fresh: boolean): Run | undefined {
  if (fresh) return undefined
  const runs = listRuns(config.project.runs)
  // A run with an unreadable manifest may be a quickstart.
  const found = runs.find((run) => run.command === COMMAND) ?? runs.find((run) => run.problem !== undefined)
  if (found === undefined) return undefined
  const notResumed = (why: string): undefined => {
    process.stderr.write(`not resuming ${found.id}: ${why}; starting a new run\n`)
    return undefined
  }
  if (found.problem !== undefined) return notResumed(found.problem)
  const stopped = names.find((name) => found.stages?.[name]?.status !== 'done')
  if (stopped === undefined) return undefined
  if (found.lockedBy !== undefined) return notResumed(`it is in use by ${describeOwner(found.lockedBy)}`)
  const settingsFile = join(found.dir, 'config.toml')
  if (!existsSync(settingsFile)) return notResumed('its config.toml is missing')
  readSettingsFile(settingsFile)
  if (writeToml(readRunSettings(settingsFile)) !== writeToml(config))
    return notResumed(`it stopped in ${stopped} and has different settings`)
  process.stderr.write(`resuming ${found.id}, which stopped in ${stopped}\n`)
  return openRun(found.dir, { write: true, command: COMMAND })
}
