import type { Command } from 'commander'
import { openRun } from '../../store/index.ts'
import type { GlobalOptions } from '../globals.ts'
import { interruptible } from '../interrupt.ts'
import { emit } from '../output.ts'
import { printNote, showProgress } from '../progress.ts'
import { settingsForRun } from '../run-settings.ts'
import { trainingSections } from '../settings-sections.ts'
import { describeTraining, tryCommand } from '../training-report.ts'

interface SftOptions extends GlobalOptions {
  model?: string
  epochs?: string
  steps?: string
  learningRate?: string
  device?: string
  again?: boolean
}

export function registerSft(program: Command): void {
  program
    .command('sft')
    .argument('<run>', 'id or path of a filtered run, or "latest"')
    .description("fine-tune a model on a run's sequences, with observations masked; resumes if interrupted")
    .option('-m, --model <folder>', 'model to start from, or "nano" (default: student.model)')
    .option('--epochs <count>', 'passes over the data (default: sft.epochs)')
    .option('--steps <count>', 'optimizer steps, instead of epochs (default: sft.max_steps)')
    .option('--learning-rate <number>', 'peak learning rate (default: sft.learning_rate)')
    .option('--device <name>', 'cpu, wasm or webgpu (default: engine.device)')
    .option('--again', 'start over instead of resuming')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa sft latest',
        '  $ coa sft latest --model models/mine --epochs 2 --set sft.batch_tokens=16384',
        '  $ coa sft latest --set tasks.dev_count=20 --set sft.keep=accuracy   # evaluate rollouts while training',
        '  $ coa sft latest --set engine.driver=tinker --set engine.url=http://localhost:8000',
      ].join('\n'),
    )
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<SftOptions>()
      const { dir, config } = settingsForRun(options, name, {
        flags: {
          'student.model': options.model,
          'sft.epochs': options.epochs,
          'sft.max_steps': options.steps,
          'sft.learning_rate': options.learningRate,
          'engine.device': options.device,
        },
        kind: 'sequences',
        uses: (config) => trainingSections('sft', config),
      })
      const { sft, runStage } = await import('../../pipeline/index.ts')
      using run = openRun(dir, { write: true, command: 'coa sft' })
      const observe = showProgress()
      const { figures } = await interruptible((signal) =>
        runStage(
          sft,
          { run, config, observe, signal, onRuntime: printNote, onFinding: printNote },
          { again: options.again === true },
        ),
      ).finally(observe.done)
      emit(options, { run: run.id, dir: run.dir, ...figures }, () =>
        describeTraining(run, 'sft', figures, [tryCommand(run, config, 'sft'), ['rl', run.id]]),
      )
    })
}
