import { randomInt } from 'node:crypto'
import type { Command } from 'commander'
import pc from 'picocolors'
import { Interrupted, UsageError } from '../../base/errors/index.ts'
import { encodePrompt, openTokenizer, type Tokenizer } from '../../language/tokens/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { readInput } from '../input.ts'
import { interruptible } from '../interrupt.ts'
import { LiveText } from '../live-text.ts'
import { numberWithin, wholeNumber } from '../numbers.ts'
import { emit } from '../output.ts'
import { repeatable } from '../repeatable.ts'
import { StreamedSample } from '../streamed-sample.ts'
import { addEngineOptions, deviceOptions, type EngineOptions } from './engine-options.ts'

interface GenerateOptions extends EngineOptions {
  model: string
  maxTokens: number
  temperature: number
  topP?: number
  topK?: number
  seed?: number
  count: number
  stop?: string[]
  chat?: boolean
  system?: string
}

export function registerGenerate(program: Command): void {
  addEngineOptions(program.command('generate'))
    .argument('[prompt]', 'text to continue (default: standard input without its final line break)')
    .description('sample text from a model, shown as it is generated')
    .requiredOption('-m, --model <folder>', 'a checkpoint, or any model in the Hugging Face layout')
    .option(
      '-n, --max-tokens <count>',
      'maximum number of tokens to sample',
      wholeNumber('--max-tokens'),
      256,
    )
    .option(
      '--temperature <number>',
      'sampling temperature; 0 is greedy',
      numberWithin('--temperature', 0),
      1,
    )
    .option('--top-p <share>', 'nucleus sampling; 1 is off', numberWithin('--top-p', 0, 1))
    .option('--top-k <count>', 'sample only from the k most likely tokens', wholeNumber('--top-k'))
    .option(
      '--seed <number>',
      'random seed; the same seed gives the same text (default: random)',
      wholeNumber('--seed', 0),
    )
    .option('--count <number>', 'number of samples', wholeNumber('--count'), 1)
    .option('--stop <text>', 'stop after this text, which is included; repeatable', repeatable)
    .option('--chat', "treat the prompt as a user message and apply the model's chat template")
    .option('--system <text>', 'system message, with --chat')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        "  $ coa generate --model models/mine 'Once upon a time' --max-tokens 100 --seed 1",
        "  $ coa generate --model models/mine --chat 'What is 17 * 144?' --stop '</answer>'",
        '  $ coa generate --model models/mine --count 4 --temperature 0.8 --json < prompt.txt',
        '\nThe text goes to standard output, statistics to standard error. Ctrl-C stops and keeps what was sampled so far.',
      ].join('\n'),
    )
    .action(async (text: string | undefined, _options, command: Command) => {
      const options = command.optsWithGlobals<GenerateOptions>()
      const { inspectModel, openEmbedded } = await import('../../engine/index.ts')
      const { shape } = await inspectModel(options.model)
      const tokenizer = await openTokenizer(options.model)
      const prompt = promptOf(text, tokenizer, options)
      const seed = options.seed ?? randomInt(2 ** 32)
      const ends = new Set([...shape.endTokens, ...(tokenizer.eosId === undefined ? [] : [tokenizer.eosId])])
      const live = new LiveText(options.json === true ? undefined : process.stdout)
      const engine = await openEmbedded({ model: options.model, ...deviceOptions(options) })
      const samples = Array.from(
        { length: options.count },
        (_, number) => new StreamedSample(tokenizer, live, { number, of: options.count }),
      )
      const isInterrupted = await interruptible(async (signal) => {
        // One request each, to know when each is finished; the engine batches them.
        const requests = samples.map((sample, number) =>
          engine
            .sample({
              prompt,
              maxTokens: options.maxTokens,
              temperature: options.temperature,
              ...(options.topP === undefined ? {} : { topP: options.topP }),
              ...(options.topK === undefined ? {} : { topK: options.topK }),
              seed: seed + number,
              stopTokens: [...ends],
              ...(options.stop === undefined ? {} : { stopTexts: options.stop }),
              onToken: (token) => sample.push(token),
              signal,
            })
            .then(([result]) => sample.end(result!)),
        )
        const results = await Promise.allSettled(requests)
        for (const sample of samples) sample.finish()
        const failed = results.find((result) => result.status === 'rejected')
        if (failed !== undefined && !(failed.reason instanceof Interrupted)) throw failed.reason
        return failed !== undefined
      }, '').finally(() => engine.close())
      report(options, { prompt, seed, samples, tokensPerSecond: live.tokensPerSecond })
      if (isInterrupted) process.exitCode = exitCodes.interrupted.code
    })
}

function promptOf(given: string | undefined, tokenizer: Tokenizer, options: GenerateOptions): Int32Array {
  if (given === undefined && process.stdin.isTTY) {
    throw new UsageError('no prompt given', {
      fix: 'Give it as a quoted argument, or pipe it in.',
    })
  }
  if (options.system !== undefined && options.chat !== true) {
    throw new UsageError('--system works only with --chat', { fix: 'Add --chat, or omit --system.' })
  }
  const text = given ?? readInput('-').replace(/\r?\n$/, '')
  const ids =
    options.chat === true
      ? encodePrompt(tokenizer, [
          ...(options.system === undefined ? [] : [{ role: 'system' as const, content: options.system }]),
          { role: 'user' as const, content: text },
        ])
      : tokenizer.encodeIds(text, { addSpecialTokens: true })
  if (ids.length > 0) return ids
  throw new UsageError('the prompt is empty', { fix: 'Give at least one character.' })
}

const stopReasons: Record<StreamedSample['stopped'], string> = {
  token: 'stopped at the end token',
  text: 'stopped at a stop text',
  length: 'stopped at --max-tokens',
  context: 'stopped at the end of the context',
  'nothing-allowed': 'stopped because no token was allowed',
  interrupted: 'interrupted by Ctrl-C',
}

function report(
  options: GenerateOptions,
  result: {
    prompt: Int32Array
    seed: number
    samples: StreamedSample[]
    tokensPerSecond: number | undefined
  },
): void {
  const { prompt, seed, samples, tokensPerSecond } = result
  const tokens = samples.reduce((sum, { tokens: own }) => sum + own.length, 0)
  if (options.json === true) {
    const data = {
      model: options.model,
      prompt: [...prompt],
      seed,
      tokensPerSecond,
      samples: samples.map((sample) => sample.record()),
    }
    emit(options, data, () => '')
    return
  }
  const reasons = new Set(samples.map(({ stopped }) => stopReasons[stopped]))
  const facts = [
    `${tokens.toLocaleString('en')} tokens`,
    ...(tokensPerSecond === undefined
      ? []
      : [`${Math.round(tokensPerSecond).toLocaleString('en')} tokens/s`]),
    [...reasons].join(' or '),
    `seed ${seed}`,
  ]
  process.stderr.write(`${pc.dim(facts.join(', '))}\n`)
}
