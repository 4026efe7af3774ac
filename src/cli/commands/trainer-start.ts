import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { UsageError } from '../../base/errors/index.ts'
import type { RunningTrainer } from '../../engine/index.ts'
import { keyFrom, readEnvironment } from '../../settings/index.ts'
import type { GlobalOptions } from '../globals.ts'
import { interruptible } from '../interrupt.ts'
import { nextLines } from '../next.ts'
import { wholeNumber } from '../numbers.ts'
import { bytes, emit, mark } from '../output.ts'
import { repeatable } from '../repeatable.ts'

interface StartOptions extends GlobalOptions {
  model?: string[]
  python?: string
  port: number
  host?: string
  key?: string
  device?: string
  dtype?: string
  compile?: string
  gpus: number
}

export function registerTrainerStart(parent: Command, home: () => string): void {
  parent
    .command('start')
    .description('start the trainer and wait until it is ready; the first start creates a Python environment')
    .option('-m, --model <[name=]folder>', 'a base model in the Hugging Face layout; repeatable', repeatable)
    .option('--python <path>', 'a Python with torch, transformers, peft, safetensors and aiohttp')
    .option('--port <number>', 'port to listen on; 0 chooses a free one', wholeNumber('--port', 0), 8000)
    .option('--host <address>', 'address to listen on (default: this machine only; others require a key)')
    .option('--key <key>', 'API key that clients must send (default: the variable COA_TRAINER_KEY)')
    .option('--device <name>', 'cpu or cuda (default: cuda if available)')
    .option('--dtype <name>', 'float32, bfloat16 or float16 (default: float32 on a CPU, otherwise bfloat16)')
    .option(
      '--compile <mode>',
      'auto, off, on or most; compiled training is faster, but takes a minute to start',
    )
    .option('--gpus <number>', 'number of GPUs to spread a model over', wholeNumber('--gpus', 1), 1)
    .addHelpText(
      'after',
      '\nExamples:\n  $ coa trainer start --model models/mine\n  $ coa trainer start --model small=models/mine --port 0 --device cpu\n  $ coa trainer start --model models/mine --python ~/torch/bin/python',
    )
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<StartOptions>()
      const models = modelsOf(options)
      const { startTrainer, trainerStatus } = await import('../../engine/index.ts')
      const key = options.key ?? keyFrom(readEnvironment(), 'COA_TRAINER_KEY')
      const { trainer, already } = await interruptible(
        (signal) =>
          startTrainer({
            home: home(),
            models,
            python: options.python,
            port: options.port,
            host: options.host,
            device: options.device,
            gpus: options.gpus,
            key: key === '' ? undefined : key,
            more: [
              ...(options.dtype === undefined ? [] : ['--dtype', options.dtype]),
              ...(options.compile === undefined ? [] : ['--compile', options.compile]),
            ],
            onStatus: (line) => process.stderr.write(`${line}\n`),
            signal,
            now: new Date().toISOString(),
          }),
        '\nstopping\n',
      )
      const { memory } = await trainerStatus(home())
      emit(options, { ...trainer, already, memory }, () => describe(trainer, already, memory))
    })
}

function modelsOf({ model = [] }: StartOptions): string[] {
  if (model.length === 0)
    throw new UsageError('the trainer needs a model', {
      fix: 'Give a folder with --model; `coa model new models/tiny` creates a small one.',
    })
  for (const entry of model) {
    const folder = entry.slice(entry.indexOf('=') + 1)
    if (!existsSync(join(folder, 'config.json')))
      throw new UsageError(`${folder} is not a model: it has no config.json`, {
        fix: 'Give a folder in the Hugging Face layout.',
      })
  }
  return model
}

function describe(trainer: RunningTrainer, already: boolean, memory: number | undefined): string {
  return [
    `${mark.good} the trainer is ${already ? 'already ' : ''}running at ${trainer.url}`,
    `  ${trainer.device}, ${trainer.dtype}${memory === undefined ? '' : `, ${bytes(memory)} of memory`}, process ${trainer.pid}`,
    `  models: ${trainer.models.join(', ')}`,
    `  log: ${trainer.log}`,
    '',
    ...nextLines([['trainer', already ? 'stop' : 'status']]),
  ].join('\n')
}
