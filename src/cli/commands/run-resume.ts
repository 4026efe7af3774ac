import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { UsageError } from '../../base/errors/index.ts'
import type { StageSummary } from '../../pipeline/index.ts'
import type { ProjectConfig } from '../../pipeline/settings.ts'
import type { RunManifest } from '../../schema/index.ts'
import { openRun, type Run } from '../../store/index.ts'
import { findRun } from '../find-run.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { interruptible } from '../interrupt.ts'
import { nextLines } from '../next.ts'
import { emit, mark } from '../output.ts'
import { printNote, showProgress } from '../progress.ts'
import { withSettingsOf } from '../run-settings.ts'
import { trainingSections } from '../settings-sections.ts'
import { describeTraining } from '../training-report.ts'

export function registerRunResume(parent: Command): void {
  parent
    .command('resume')
    .argument('<run>', 'id or path of a run, or "latest"')
    .description('resume interrupted training, or an interrupted quickstart, with its original settings')
    .addHelpText('after', '\nExample:\n  $ coa run resume latest')
    .action(async (which: string, _options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const dir = findRun(settings(options).config.project.runs, which, 'interrupted training')
      using run = openRun(dir, { write: true, command: 'coa run resume' })
      if (isUnfinishedQuickstart(run.manifest)) {
        await resumeQuickstart(run, options)
        return
      }
      const name = (['rl', 'sft'] as const).find((one) => {
        const state = run.manifest.stages[one]
        return state !== undefined && state.status !== 'done'
      })
      if (name === undefined) {
        throw new UsageError(`run ${run.id} has no interrupted training`, {
          fix: `\`coa run show ${run.id}\` shows the state of its stages.`,
        })
      }
      const { rl, runStage, sft, stageSettingsFile } = await import('../../pipeline/index.ts')
      const own = stageSettingsFile(run.dir, name)
      // Quickstart runs of older versions have only the settings of the whole run.
      const file = existsSync(own) ? own : run.files.config
      if (!existsSync(file)) {
        throw new UsageError(`the settings of ${name} are missing in ${run.dir}`, {
          fix: `Run \`coa ${name} ${run.id}\` with the original settings.`,
        })
      }
      const config = withSettingsOf(file, 'over', options, { uses: (its) => trainingSections(name, its) })
      const observe = showProgress()
      const { figures } = await interruptible((signal) =>
        runStage<ProjectConfig, object, StageSummary>(name === 'sft' ? sft : rl, {
          run,
          config,
          observe,
          signal,
          onRuntime: printNote,
        }),
      ).finally(observe.done)
      emit(options, { run: run.id, stage: name, ...figures }, () =>
        describeTraining(run, name, figures, [['run', 'show', run.id]]),
      )
    })
}

function isUnfinishedQuickstart({ command, stages }: RunManifest): boolean {
  return command === 'coa quickstart' && stages['eval']?.status !== 'done'
}

/** Runs the stages that are left, with the settings of the run. */
async function resumeQuickstart(run: Run, options: GlobalOptions): Promise<void> {
  const file = run.files.config
  if (!existsSync(file))
    throw new UsageError(`the settings are missing in ${run.dir}`, {
      fix: 'Start a new run with `coa quickstart`.',
    })
  const uses = (config: ProjectConfig): (keyof ProjectConfig)[] =>
    Object.keys(config) as (keyof ProjectConfig)[]
  const config = withSettingsOf(file, 'over', options, { uses })
  const { runStages, stages } = await import('../../pipeline/index.ts')
  const observe = showProgress()
  const outcomes = await interruptible((signal) =>
    runStages(stages, { run, config, signal, observe, onRuntime: printNote, onFinding: printNote }),
  ).finally(observe.done)
  emit(options, { run: run.id, stages: outcomes }, () =>
    [
      ...outcomes.map(({ name, purpose }) => `${mark.good} ${name}: ${purpose}`),
      '',
      ...nextLines([['run', 'report', run.id]]),
    ].join('\n'),
  )
}
