import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { UsageError } from '../../base/errors/index.ts'
import { openRun } from '../../store/index.ts'
import { findRun } from '../find-run.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { interruptible } from '../interrupt.ts'
import { emit } from '../output.ts'
import { sayAside, showProgress } from '../progress.ts'
import { withSettingsOf } from '../run-settings.ts'
import { trainingSections } from '../sections.ts'
import { inStage, stageSettingsFile } from '../stage.ts'
import { describeTraining } from '../training-report.ts'

export function registerRunResume(parent: Command): void {
  parent
    .command('resume')
    .argument('<run>', 'id or folder of a run, or "latest"')
    .description('go on with a training that was stopped, with the settings it was started with')
    .addHelpText('after', '\nExample:\n  $ coa run resume latest')
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const dir = findRun(settings(options).config.project.runs, name, 'stopped training')
      using run = openRun(dir, { write: true, command: 'coa run resume' })
      const stage = (['rl', 'sft'] as const).find((one) => {
        const state = run.manifest.stages[one]
        return state !== undefined && state.status !== 'done'
      })
      if (stage === undefined) {
        throw new UsageError(`no training of run ${run.id} was stopped`, {
          fix: `\`coa run show ${run.id}\` says how far it came.`,
        })
      }
      // What the quickstart runs has the settings of the run.
      const own = stageSettingsFile(run.dir, stage)
      const file = existsSync(own) ? own : run.files.config
      if (!existsSync(file)) {
        throw new UsageError(`the settings of ${stage} are not in ${run.dir}`, {
          fix: `Start it again with \`coa ${stage} ${run.id}\` and the settings it had.`,
        })
      }
      const config = withSettingsOf(file, 'over', options, { uses: (its) => trainingSections(stage, its) })
      const { trainRl, trainSft } = await import('../../pipeline/index.ts')
      const observe = showProgress()
      const summary = await interruptible((signal) =>
        inStage(run, stage, config, signal, async () => {
          const context = { run, config, observe, signal, onRuntime: sayAside }
          return stage === 'sft' ? await trainSft(context) : (await trainRl(context)).figures
        }),
      ).finally(observe.done)
      emit(options, { run: run.id, stage, ...summary }, () =>
        describeTraining(run, stage, summary, [['run', 'show', run.id]]),
      )
    })
}
