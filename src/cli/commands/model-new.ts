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
    .argument('<folder>', 'folder to write the model to')
    .description('create a model with random weights, to be trained from scratch')
    .addOption(
      new Option('--preset <name>', 'size: nano ≈ 1, micro ≈ 3, mini ≈ 10 million parameters')
        .choices(['nano', 'micro', 'mini'])
        .default('nano'),
    )
    .addOption(
      new Option('--family <name>', 'architecture (default: llama)').choices(['llama', 'qwen2', 'qwen3']),
    )
    .option(...count('--width <size>', 'hidden size; heads and feed-forward width are derived from it'))
    .option(...count('--layers <count>', 'number of layers'))
    .option(...count('--heads <count>', 'number of attention heads'))
    .option(...count('--kv-heads <count>', 'number of key-value heads (grouped-query attention)'))
    .option(...count('--feed-forward <size>', 'feed-forward width'))
    .option(...count('--context <tokens>', 'context length (default: 2048)'))
    .option('--tied', 'tie the output layer to the embedding (default)')
    .option('--untied', 'give the output layer its own weights')
    .option(
      '--seed <number>',
      'random seed for the weights (default: project.seed)',
      wholeNumber('--seed', 0),
    )
    .option('-t, --tokenizer <name>', '"bytes", or a folder to copy the tokenizer from (default: bytes)')
    .option('--train-tokenizer <file...>', 'train a tokenizer on text files, or on .jsonl with --field')
    .option(...count('--vocabulary <size>', 'vocabulary size of a trained tokenizer (default: 2048)'))
    .option('--field <name>', 'field with the text in .jsonl (default: text; not needed for sequences)')
    .option('-g, --grammar <name>', 'make each tag of this grammar one token')
    .option('--force', 'overwrite an existing model')
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

function refuseToReplace(folder: string, { force }: NewOptions): void {
  if (force === true || !existsSync(join(folder, 'config.json'))) return
  throw new UsageError(`${folder} already contains a model`, {
    fix: 'Choose another folder, or overwrite it with --force.',
  })
}

function sizesOf(options: NewOptions & { untied?: boolean }): ModelSizes {
  if (options.tied === true && options.untied === true) {
    throw new UsageError('--tied and --untied are mutually exclusive', { fix: 'Give one of them.' })
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
    throw new UsageError('--tokenizer and --train-tokenizer are mutually exclusive', {
      fix: 'Give one of them.',
    })
  }
  const unused =
    files === undefined
      ? Object.entries({ vocabulary, field }).find(([, value]) => value !== undefined)
      : undefined
  if (unused !== undefined) {
    throw new UsageError(`--${unused[0]} works only with --train-tokenizer`, {
      fix: `Add --train-tokenizer FILE, or omit --${unused[0]}.`,
    })
  }
  const tags = grammar === undefined ? [] : await tagsOf(grammar)
  if (files !== undefined) return trainedTokenizer(files, { vocabulary, field, tags })
  if (tokenizer === undefined || tokenizer === 'bytes') {
    const { byteTokenizerWithTags } = await import('../../engine/index.ts')
    return { tokenizer: byteTokenizerWithTags(tags) }
  }
  if (tags.length > 0) {
    throw new UsageError("a grammar's tags cannot be added to an existing tokenizer", {
      fix: 'Omit --grammar, or train a tokenizer with --train-tokenizer.',
    })
  }
  return { tokenizer }
}

async function tagsOf(name: string): Promise<string[]> {
  const { agents } = await loadGrammar(name)
  return [...agents.values()].flatMap(({ tag }) => [`<${tag}>`, `</${tag}>`])
}

async function trainedTokenizer(
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
    `  ${shape.layers} layers of width ${shape.width}, ${shape.heads} heads of width ${shape.headWidth}, context ${shape.contextLength.toLocaleString('en')}, vocabulary ${shape.vocabularySize.toLocaleString('en')}`,
    ...(summary === undefined
      ? []
      : [
          `  tokenizer trained on ${summary.texts.toLocaleString('en')} texts, ${summary.characters.toLocaleString('en')} characters`,
        ]),
    ...(summary?.complete === false
      ? [
          `${mark.open} the texts were only enough for ${summary.vocabularySize.toLocaleString('en')} tokens; use more text for a larger vocabulary`,
        ]
      : []),
    '',
    ...nextLines([['generate', '--model', folder, 'Once upon a time']]),
  ].join('\n')
}
