import { resolve } from 'node:path'
import type { Command } from 'commander'
import { UsageError } from '../../base/errors/index.ts'
import type { ProjectConfig } from '../../pipeline/settings.ts'
import type { Task } from '../../schema/index.ts'
import { openRun, type Run } from '../../store/index.ts'
import { findRun } from '../find-run.ts'
import type { GlobalOptions } from '../globals.ts'
import { interruptible } from '../interrupt.ts'
import { emit } from '../output.ts'
import { printNote, showProgress } from '../progress.ts'
import { settingsForRun } from '../run-settings.ts'
import { trainingSections } from '../settings-sections.ts'
import { describeTraining, tryCommand } from '../training-report.ts'

interface RlOptions extends GlobalOptions {
  model?: string
  steps?: string
  algorithm?: string
  learningRate?: string
  device?: string
  again?: boolean
  suites?: string
  fromServed?: string
}

export function registerRl(program: Command): void {
  program
    .command('rl')
    .argument('[run]', 'id or path of a run, or "latest"')
    .description('train a model with RL on its own rollouts with live tools; resumes if interrupted')
    .option('-m, --model <folder>', "model to start from (default: the run's SFT checkpoint)")
    .option('--steps <count>', 'training steps (default: rl.steps)')
    .option('--algorithm <name>', 'dapo, grpo, reinforce++ or ppo (default: rl.algorithm)')
    .option('--learning-rate <number>', 'peak learning rate (default: rl.learning_rate)')
    .option(
      '--suites <names>',
      'suites, benchmarks or files to practice on (default: those the run was recorded from)',
    )
    .option(
      '--from-served <run>',
      'train on questions that were asked of `coa serve --record`, where feedback gave the answer (default run: the same)',
    )
    .option('--device <name>', 'cpu, wasm or webgpu (default: engine.device)')
    .option('--again', 'start over instead of resuming')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa rl latest',
        '  $ coa rl latest --steps 60 --set rl.groups=16 --set rl.group_size=8',
        '  $ coa rl latest --set tasks.dev_count=50   # evaluate while training, and keep the best weights',
        '  $ coa rl --from-served ID                  # in the run that was recorded while serving',
        '  $ coa rl latest --from-served ID',
        '  $ coa rl latest --algorithm grpo --set rl.kl=0.001',
      ].join('\n'),
    )
    .action(async (named: string | undefined, _options, command: Command) => {
      const options = command.optsWithGlobals<RlOptions>()
      const name = runToTrain(named, options)
      const { dir, config } = settingsForRun(options, name, {
        flags: {
          'rl.model': options.model,
          'rl.steps': options.steps,
          'rl.algorithm': options.algorithm,
          'rl.learning_rate': options.learningRate,
          'engine.device': options.device,
          'tasks.suites': options.suites,
        },
        kind: 'tasks',
        uses: (config) => trainingSections('rl', config),
      })
      const { rl, runStage } = await import('../../pipeline/index.ts')
      using run = openRun(dir, { write: true, command: 'coa rl' })
      const served = await tasksFromServed(options, config, run)
      const observe = showProgress()
      const { figures, ended } = await interruptible((signal) =>
        runStage(
          rl,
          {
            run,
            config,
            observe,
            signal,
            onRuntime: printNote,
            onFinding: (text) => process.stderr.write(`\n${text}\n`),
          },
          { again: options.again === true, askedSources: options.suites !== undefined, served },
        ),
      ).finally(observe.done)
      const why = ended === undefined ? {} : { ended }
      emit(options, { run: run.id, dir: run.dir, ...figures, ...why }, () =>
        describeTraining(
          run,
          'rl',
          figures,
          [['run', 'diagnose', run.id], tryCommand(run, config, 'rl')],
          ended,
        ),
      )
    })
}

function runToTrain(named: string | undefined, { fromServed, suites }: RlOptions): string {
  if (fromServed !== undefined && suites !== undefined)
    throw new UsageError('--from-served and --suites both say what to train on', { fix: 'Use one of them.' })
  const name = named ?? fromServed
  if (name !== undefined) return name
  throw new UsageError('name the run to train in', { fix: 'For example: coa rl latest' })
}

async function tasksFromServed(
  { fromServed }: RlOptions,
  config: ProjectConfig,
  run: Run,
): Promise<Task[] | undefined> {
  if (fromServed === undefined) return undefined
  const { servedTasks } = await import('../../stages/rl/index.ts')
  const dir = findRun(config.project.runs, fromServed)
  if (resolve(dir) === run.dir) return servedTasks(run)
  using other = openRun(dir)
  return servedTasks(other)
}
