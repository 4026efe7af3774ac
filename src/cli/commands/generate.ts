import { randomInt } from 'node:crypto'
import type { Command } from 'commander'
import pc from 'picocolors'
import { UsageError } from '../../base/errors/index.ts'
import { encodePrompt, openTokenizer, type Tokenizer } from '../../language/tokens/index.ts'
import { collect } from '../collect.ts'
import { Continuation } from '../continuation.ts'
import { exitCodes } from '../exit-codes.ts'
import { readInput } from '../input.ts'
import { Interrupted, interruptible } from '../interrupt.ts'
import { LiveText } from '../live-text.ts'
import { numberWithin, wholeNumber } from '../numbers.ts'
import { emit } from '../output.ts'
import { addEngineOptions, type EngineOptions, placeOf } from './engine-options.ts'

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
    .argument('[prompt]', 'text to continue; without it, standard input, less one line break at its end')
    .description('continue a text with a model, shown as it is sampled')
    .requiredOption('-m, --model <folder>', 'a checkpoint, or any model in the Hugging Face layout')
    .option('-n, --max-tokens <count>', 'longest continuation', wholeNumber('--max-tokens'), 256)
    .option(
      '--temperature <number>',
      '0 always takes the likeliest token',
      numberWithin('--temperature', 0),
      1,
    )
    .option('--top-p <share>', 'only the likeliest tokens with this share', numberWithin('--top-p', 0, 1))
    .option('--top-k <count>', 'only so many of the likeliest tokens', wholeNumber('--top-k'))
    .option(
      '--seed <number>',
      'the same seed gives the same text (default: another each time)',
      wholeNumber('--seed', 0),
    )
    .option('--count <number>', 'how many continuations', wholeNumber('--count'), 1)
    .option('--stop <text>', 'end after this text, which is kept; may be given again', collect)
    .option('--chat', 'the prompt is a message: apply the chat template of the model')
    .option('--system <text>', 'system message of the chat')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        "  $ coa generate --model models/mine 'Once upon a time' --max-tokens 100 --seed 1",
        "  $ coa generate --model models/mine --chat 'What is 17 * 144?' --stop '</answer>'",
        '  $ coa generate --model models/mine --count 4 --temperature 0.8 --json < prompt.txt',
        '\nThe text goes to standard output, figures to standard error. Ctrl-C ends with what was sampled.',
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
      const engine = await openEmbedded({ model: options.model, ...placeOf(options) })
      const continuations = Array.from(
        { length: options.count },
        (_, number) => new Continuation(tokenizer, live, { number, of: options.count }),
      )
      const isInterrupted = await interruptible(async (signal) => {
        // Asked for one by one, so that each is known to be done when it is; the engine samples them together.
        const asked = continuations.map((continuation, number) =>
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
              onToken: (token) => continuation.take(token),
              signal,
            })
            .then(([sample]) => continuation.end(sample!)),
        )
        const results = await Promise.allSettled(asked)
        continuations.forEach((continuation) => {
          continuation.cut()
        })
        const failed = results.find((result) => result.status === 'rejected')
        if (failed !== undefined && !(failed.reason instanceof Interrupted)) throw failed.reason
        return failed !== undefined
      }, '').finally(() => engine.close())
      report(options, { prompt, seed, continuations, tokensPerSecond: live.tokensPerSecond })
      if (isInterrupted) process.exitCode = exitCodes.interrupted.code
    })
}

function promptOf(given: string | undefined, tokenizer: Tokenizer, options: GenerateOptions): Int32Array {
  if (given === undefined && process.stdin.isTTY) {
    throw new UsageError('no prompt is given', {
      fix: 'Write it behind the command in quotes, or pipe it in.',
    })
  }
  if (options.system !== undefined && options.chat !== true) {
    throw new UsageError('--system is for a chat', { fix: 'Add --chat, or leave it out.' })
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
  throw new UsageError('the prompt is empty', { fix: 'Give at least one character to begin with.' })
}

const endings: Record<Continuation['stopped'], string> = {
  token: 'ended by itself',
  text: 'ended at a stop text',
  length: 'ended at --max-tokens',
  context: 'ended at the end of the context',
  'nothing-allowed': 'ended where nothing was allowed',
  interrupted: 'stopped by Ctrl-C',
}

function report(
  options: GenerateOptions,
  result: {
    prompt: Int32Array
    seed: number
    continuations: Continuation[]
    tokensPerSecond: number | undefined
  },
): void {
  const { prompt, seed, continuations, tokensPerSecond } = result
  const tokens = continuations.reduce((sum, { tokens: own }) => sum + own.length, 0)
  if (options.json === true) {
    const data = {
      model: options.model,
      prompt: [...prompt],
      seed,
      tokensPerSecond,
      samples: continuations.map((continuation) => continuation.record()),
    }
    emit(options, data, () => '')
    return
  }
  const ends = new Set(continuations.map(({ stopped }) => endings[stopped]))
  const facts = [
    `${tokens.toLocaleString('en')} tokens`,
    ...(tokensPerSecond === undefined
      ? []
      : [`${Math.round(tokensPerSecond).toLocaleString('en')} tokens/s`]),
    [...ends].join(' or '),
    `seed ${seed}`,
  ]
  process.stderr.write(`${pc.dim(facts.join(', '))}\n`)
}
