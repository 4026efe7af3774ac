import type { Command } from 'commander'
import { openRun } from '../../store/index.ts'
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
}

export function registerRl(program: Command): void {
  program
    .command('rl')
    .argument('<run>', 'id or path of a run, or "latest"')
    .description('train a model with RL on its own rollouts with live tools; resumes if interrupted')
    .option('-m, --model <folder>', "model to start from (default: the run's SFT checkpoint)")
    .option('--steps <count>', 'training steps (default: rl.steps)')
    .option('--algorithm <name>', 'dapo, grpo, reinforce++ or ppo (default: rl.algorithm)')
    .option('--learning-rate <number>', 'peak learning rate (default: rl.learning_rate)')
    .option(
      '--suites <names>',
      'suites, benchmarks or files to practice on (default: those the run was recorded from)',
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
        '  $ coa rl latest --algorithm grpo --set rl.kl=0.001',
      ].join('\n'),
    )
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<RlOptions>()
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
          { again: options.again === true, askedSources: options.suites !== undefined },
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
