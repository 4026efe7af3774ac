import type { Command } from 'commander'
import pc from 'picocolors'
import type { ModelReport } from '../../engine/index.ts'
import type { GlobalOptions } from '../globals.ts'
import { bytes, emit, mark, table } from '../output.ts'
import { millions } from './engine-options.ts'

export function registerModelInspect(parent: Command): void {
  parent
    .command('inspect')
    .argument('<folder>', 'a checkpoint, or any model in the Hugging Face layout')
    .description('show what a model is and where it comes from')
    .option('--verify', 'compare every file with its hash in the manifest')
    .addHelpText(
      'after',
      '\nExamples:\n  $ coa model inspect models/mine\n  $ coa model inspect runs/latest/checkpoint --verify --json',
    )
    .action(async (folder: string, _options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { verify?: boolean }>()
      const { inspectModel, verifyCheckpoint } = await import('../../engine/index.ts')
      const report = await inspectModel(folder)
      const verified = options.verify === true
      if (verified) verifyCheckpoint(folder)
      emit(options, { ...report, verified }, () => describe(report, verified))
    })
}

function describe(report: ModelReport, verified: boolean): string {
  const { manifest } = report
  return [
    pc.bold(report.folder),
    '',
    table([
      ...modelRows(report).map(([name, ...value]) => [pc.dim(name!), ...value]),
      ...lineageRows(report).map(([name, ...value]) => [pc.dim(name!), ...value]),
    ]),
    '',
    table([
      ['file', 'bytes', ...(manifest === undefined ? [] : ['sha256'])].map((head) => pc.dim(head)),
      ...report.files.map(({ name, bytes: count, sha256 }) => [
        name,
        bytes(count).padStart(9),
        ...(sha256 === undefined ? [] : [pc.dim(sha256.slice(0, 16))]),
      ]),
    ]),
    ...(verified ? ['', `${mark.good} every file is as it was saved`] : []),
  ].join('\n')
}

function modelRows(report: ModelReport): string[][] {
  const { shape, tokenizer, optimizer, adapter, elementTypes, weightFiles } = report
  const types = Object.keys(elementTypes).join(', ')
  const groups = shape.heads === shape.keyValueHeads ? '' : `, ${shape.keyValueHeads} for keys and values`
  return [
    ...(adapter === undefined
      ? []
      : [['adapter', `LoRA of rank ${adapter.rank}, alpha ${adapter.alpha}, on ${adapter.base}`]]),
    ['family', shape.family],
    ['parameters', `${millions(report.parameters)} (${report.parameters.toLocaleString('en')})`],
    [
      'weights',
      `${types}, ${bytes(report.weightBytes)} in ${weightFiles.length === 1 ? 'one file' : `${weightFiles.length} files`}`,
    ],
    ['layers', `${shape.layers}, ${shape.width} wide, feed-forward ${shape.feedForwardWidth}`],
    ['heads', `${shape.heads} of ${shape.headWidth}${groups}`],
    ['context', `${shape.contextLength.toLocaleString('en')} tokens${positions(report)}`],
    ['head', shape.tiedHead ? 'the embedding (tied)' : 'weights of its own'],
    ['tokenizer', describeTokenizer(tokenizer, shape.vocabularySize)],
    [
      'optimiser',
      optimizer === undefined
        ? 'not saved'
        : `after step ${optimizer.step ?? '?'}, ${bytes(optimizer.bytes)}`,
    ],
  ]
}

function positions({ shape: { ropeScaling } }: ModelReport): string {
  return ropeScaling === undefined
    ? ''
    : `, positions stretched ${ropeScaling.factor} times (${ropeScaling.kind})`
}

function describeTokenizer(tokenizer: ModelReport['tokenizer'], rows: number): string {
  if (tokenizer === undefined) return `none in the folder; the model has ${rows.toLocaleString('en')} tokens`
  const { model, vocabularySize, eosToken, chatTemplate } = tokenizer
  return [
    `${model} of ${vocabularySize.toLocaleString('en')} tokens`,
    ...(rows === vocabularySize ? [] : [`the model has rows for ${rows.toLocaleString('en')}`]),
    eosToken === undefined ? 'no end token' : `ends with ${eosToken}`,
    chatTemplate ? 'chat template' : 'no chat template',
  ].join(', ')
}

function lineageRows({ manifest }: ModelReport): string[][] {
  if (manifest === undefined) return [['lineage', 'none: not written by coa']]
  const { stage, step, createdAt, id, parent, parentFingerprint, parentPath, metrics, fingerprint } = manifest
  const ancestor = [parent ?? parentFingerprint?.slice(0, 16), parentPath].filter(
    (part) => part !== undefined,
  )
  return [
    ['stage', `${stage}, step ${step}, ${createdAt}`],
    ['id', `${id}, fingerprint ${fingerprint.slice(0, 16)}…`],
    ['parent', ancestor.length === 0 ? 'none' : ancestor.join(', ')],
    ...(Object.keys(metrics).length === 0
      ? []
      : [
          [
            'metrics',
            Object.entries(metrics)
              .map(([name, value]) => `${name} ${value}`)
              .join(', '),
          ],
        ]),
  ]
}
