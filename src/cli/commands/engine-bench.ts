import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Command, Option } from 'commander'
import pc from 'picocolors'
import type { EngineDescription, EngineSpeed, PresetName } from '../../engine/index.ts'
import { interruptible } from '../interrupt.ts'
import { numberWithin } from '../numbers.ts'
import { emit, table } from '../output.ts'
import { showProgress } from '../progress.ts'
import { addEngineOptions, describeEngine, deviceOptions, type EngineOptions } from './engine-options.ts'

interface BenchOptions extends EngineOptions {
  model?: string
  preset: PresetName
  seconds: number
}

export function registerEngineBench(parent: Command): void {
  addEngineOptions(parent.command('bench'))
    .description('measure training and sampling throughput on this machine, in tokens per second')
    .option('-m, --model <folder>', 'your own model (default: a random one of the size --preset)')
    .addOption(
      new Option('--preset <name>', 'size of the random model')
        .choices(['nano', 'micro', 'mini'])
        .default('nano'),
    )
    .option(
      '--seconds <number>',
      'length of each of the five measurements',
      numberWithin('--seconds', 0.1),
      3,
    )
    .addHelpText(
      'after',
      '\nExamples:\n  $ coa engine bench\n  $ coa engine bench --model models/mine --threads 4\n  $ coa engine bench --preset mini --json',
    )
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<BenchOptions>()
      const observe = showProgress()
      const measured = await interruptible((signal) => measure(options, observe, signal)).finally(
        observe.done,
      )
      emit(options, measured, () => describe(measured))
    })
}

async function measure(
  options: BenchOptions,
  observe: ReturnType<typeof showProgress>,
  signal: AbortSignal,
): Promise<{ engine: EngineDescription } & EngineSpeed> {
  const { byteTokenizerWithTags, measureEngine, newModel, openEmbedded, shapeOfSizes } = await import(
    '../../engine/index.ts'
  )
  const scratch = mkdtempSync(join(tmpdir(), 'coa-engine-bench-'))
  try {
    const model = options.model ?? join(scratch, 'model')
    if (options.model === undefined) {
      await newModel(model, {
        shape: shapeOfSizes({}, options.preset),
        tokenizer: byteTokenizerWithTags(),
        seed: 1,
        createdAt: new Date().toISOString(),
      })
    }
    const engine = await openEmbedded({ model, ...deviceOptions(options) })
    try {
      const speed = await measureEngine(engine, { seconds: options.seconds, observe, signal })
      return { engine: engine.describe(), ...speed }
    } finally {
      await engine.close()
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

function describe({ engine, training, sampling }: { engine: EngineDescription } & EngineSpeed): string {
  const speed = (tokens: number): string => Math.round(tokens).toLocaleString('en').padStart(9)
  return [
    describeEngine(engine),
    '',
    table([
      ['', ' tokens/s', ''].map((head) => pc.dim(head)),
      [
        'training',
        speed(training.tokensPerSecond),
        pc.dim(`${training.sequences} sequences of ${training.sequenceTokens} tokens per step`),
      ],
      ...sampling.map(({ batch, tokensPerSecond }) => [
        'sampling',
        speed(tokensPerSecond),
        pc.dim(batch === 1 ? 'one sequence' : `${batch} concurrent sequences`),
      ]),
    ]),
  ].join('\n')
}
