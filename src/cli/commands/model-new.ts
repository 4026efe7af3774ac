import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Command, Option } from 'commander'
import { UsageError } from '../../base/errors/index.ts'
import type {
  CheckpointManifest,
  ModelFamily,
  ModelShape,
  ModelSizes,
  NewModelOptions,
  PresetName,
} from '../../engine/index.ts'
import { loadGrammar } from '../../language/grammar/index.ts'
import type { TrainingSummary } from '../../language/tokens/train/index.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { interruptible } from '../interrupt.ts'
import { nextLines } from '../next.ts'
import { wholeNumber } from '../numbers.ts'
import { bytes, emit, mark } from '../output.ts'
import { showProgress } from '../progress.ts'
import { readTexts } from '../read-texts.ts'
import { millions } from './engine-options.ts'

interface NewOptions extends GlobalOptions {
  preset: PresetName
  family?: ModelFamily
  width?: number
  layers?: number
  heads?: number
  kvHeads?: number
  feedForward?: number
  context?: number
  tied?: boolean
  seed?: number
  tokenizer?: string
  trainTokenizer?: string[]
  vocabulary?: number
  field?: string
  grammar?: string
  force?: boolean
}

interface ChosenTokenizer {
  tokenizer: NewModelOptions['tokenizer']
  summary?: TrainingSummary
}

export function registerModelNew(parent: Command): void {
  const count = (flags: string, description: string): [string, string, (text: string) => number] => [
    flags,
    description,
    wholeNumber(flags.split(' ')[0]!),
  ]
  parent
    .command('new')
    .argument('<folder>', 'where the model is written')
    .description('make a model with fresh weights, to be trained from nothing')
    .addOption(
      new Option('--preset <name>', 'sizes by name: nano ≈ 1, micro ≈ 3, mini ≈ 10 million parameters')
        .choices(['nano', 'micro', 'mini'])
        .default('nano'),
    )
    .addOption(
      new Option('--family <name>', 'kind of model (default: llama)').choices(['llama', 'qwen2', 'qwen3']),
    )
    .option(
      ...count('--width <size>', 'numbers that stand for a token; heads and feed-forward follow from it'),
    )
    .option(...count('--layers <count>', 'layers, one after the other'))
    .option(...count('--heads <count>', 'heads of attention'))
    .option(...count('--kv-heads <count>', 'heads for keys and values, shared by the others'))
    .option(...count('--feed-forward <size>', 'width of the feed-forward part'))
    .option(...count('--context <tokens>', 'longest sequence (default: 2048)'))
    .option('--tied', 'the embedding is the output layer too (default)')
    .option('--untied', 'the output layer has weights of its own')
    .option('--seed <number>', 'of the weights (default: project.seed)', wholeNumber('--seed', 0))
    .option('-t, --tokenizer <name>', '"bytes", or a folder whose tokenizer is taken (default: bytes)')
    .option('--train-tokenizer <file...>', 'learn a tokenizer from text files, or .jsonl with --field')
    .option(...count('--vocabulary <size>', 'tokens of a learned tokenizer (default: 2048)'))
    .option('--field <name>', 'field of .jsonl that holds the text (default: text; sequences need none)')
    .option('-g, --grammar <name>', 'make each tag of this grammar one token')
    .option('--force', 'replace a checkpoint that is there')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa model new models/tiny',
        '  $ coa model new models/mine --preset micro --train-tokenizer books/*.txt --vocabulary 4096 --grammar web',
        '  $ coa model new models/odd --width 256 --layers 3 --family qwen3 --context 4096 --untied',
        '  $ coa run show latest -k sequence --jsonl > s.jsonl && coa model new models/a --train-tokenizer s.jsonl -g web',
      ].join('\n'),
    )
    .action(async (folder: string, _options, command: Command) => {
      const options = command.optsWithGlobals<NewOptions & { untied?: boolean }>()
      const { checkReplaceable, newModel, parameterCount, shapeOfSizes } = await import(
        '../../engine/index.ts'
      )
      checkReplaceable(folder)
      refuseToReplace(folder, options)
      const shape = shapeOfSizes(sizesOf(options), options.preset)
      const { tokenizer, summary } = await tokenizerOf(options)
      const seed = settings(options, { 'project.seed': options.seed }).config.project.seed
      const createdAt = new Date().toISOString()
      const made = await newModel(folder, { shape, tokenizer, seed, createdAt })
      const parameters = parameterCount(made.shape)
      const { id, fingerprint } = made.manifest
      emit(options, { folder, id, fingerprint, parameters, shape: made.shape, tokenizer: summary }, () =>
        describe(folder, { ...made, parameters, summary }),
      )
    })
}

/** What is lost here was perhaps trained for hours. */
function refuseToReplace(folder: string, { force }: NewOptions): void {
  if (force === true || !existsSync(join(folder, 'config.json'))) return
  throw new UsageError(`there is a model in ${folder} already`, {
    fix: 'Name another folder, or give --force to replace it.',
  })
}

function sizesOf(options: NewOptions & { untied?: boolean }): ModelSizes {
  if (options.tied === true && options.untied === true) {
    throw new UsageError('--tied and --untied exclude each other', { fix: 'Give one of them.' })
  }
  const sizes: { [Name in keyof ModelSizes]: ModelSizes[Name] | undefined } = {
    family: options.family,
    width: options.width,
    layers: options.layers,
    heads: options.heads,
    keyValueHeads: options.kvHeads,
    feedForwardWidth: options.feedForward,
    contextLength: options.context,
    tiedHead: options.untied !== true,
  }
  return Object.fromEntries(Object.entries(sizes).filter(([, size]) => size !== undefined))
}

async function tokenizerOf(options: NewOptions): Promise<ChosenTokenizer> {
  const { tokenizer, trainTokenizer: files, vocabulary, field, grammar } = options
  if (tokenizer !== undefined && files !== undefined) {
    throw new UsageError('--tokenizer and --train-tokenizer exclude each other', { fix: 'Give one of them.' })
  }
  const idle =
    files === undefined
      ? Object.entries({ vocabulary, field }).find(([, value]) => value !== undefined)
      : undefined
  if (idle !== undefined) {
    throw new UsageError(`--${idle[0]} is for a tokenizer that is learned`, {
      fix: 'Add --train-tokenizer FILE, or leave it out.',
    })
  }
  const tags = grammar === undefined ? [] : await tagsOf(grammar)
  if (files !== undefined) return learned(files, { vocabulary, field, tags })
  if (tokenizer === undefined || tokenizer === 'bytes') {
    const { byteTokenizerWithTags } = await import('../../engine/index.ts')
    return { tokenizer: byteTokenizerWithTags(tags) }
  }
  if (tags.length > 0) {
    throw new UsageError('the tags of a grammar cannot be added to a tokenizer that is there', {
      fix: 'Leave --grammar out, or learn a tokenizer with --train-tokenizer.',
    })
  }
  return { tokenizer }
}

async function tagsOf(name: string): Promise<string[]> {
  const { agents } = await loadGrammar(name)
  return [...agents.values()].flatMap(({ tag }) => [`<${tag}>`, `</${tag}>`])
}

async function learned(
  files: string[],
  {
    vocabulary = 2048,
    field,
    tags,
  }: { vocabulary: number | undefined; field: string | undefined; tags: string[] },
): Promise<ChosenTokenizer> {
  const { trainTokenizer } = await import('../../language/tokens/train/index.ts')
  const observe = showProgress()
  const { summary, ...tokenizer } = await interruptible((signal) =>
    trainTokenizer(readTexts(files, field), {
      vocabularySize: vocabulary,
      tags,
      signal,
      observe: (progress) => observe({ ...progress, stage: `tokenizer: ${progress.stage}` }),
    }),
  ).finally(observe.done)
  return { tokenizer, summary }
}

function describe(
  folder: string,
  made: {
    shape: ModelShape
    manifest: CheckpointManifest
    parameters: number
    summary: TrainingSummary | undefined
  },
): string {
  const { shape, manifest, parameters, summary } = made
  const size = manifest.files.reduce((sum, file) => sum + file.bytes, 0)
  return [
    `${mark.good} ${folder}: ${shape.family}, ${millions(parameters)} parameters, ${bytes(size)}`,
    `  ${shape.layers} layers, ${shape.width} wide, ${shape.heads} heads of ${shape.headWidth}, context ${shape.contextLength.toLocaleString('en')}, ${shape.vocabularySize.toLocaleString('en')} tokens`,
    ...(summary === undefined
      ? []
      : [
          `  tokenizer learned from ${summary.texts.toLocaleString('en')} texts, ${summary.characters.toLocaleString('en')} characters`,
        ]),
    ...(summary?.complete === false
      ? [
          `${mark.open} the texts gave only ${summary.vocabularySize.toLocaleString('en')} tokens; more text gives more`,
        ]
      : []),
    '',
    ...nextLines([['generate', '--model', folder, 'Once upon a time']]),
  ].join('\n')
}
