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
    .description("show a model's family, sizes, files, tokenizer and lineage")
    .option('--verify', 'compare every file with its checksum in the manifest')
    .addHelpText(
      'after',
      '\nExamples:\n  $ coa model inspect models/mine\n  $ coa model inspect runs/ID/checkpoints/sft --verify --json',
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
    ...(verified ? ['', `${mark.good} all files match their checksums`] : []),
  ].join('\n')
}

function modelRows(report: ModelReport): string[][] {
  const { shape, tokenizer, optimizer, adapter, elementTypes, weightFiles } = report
  const types = Object.keys(elementTypes).join(', ')
  const groups = shape.heads === shape.keyValueHeads ? '' : `, ${shape.keyValueHeads} key-value heads`
  return [
    ...(adapter === undefined
      ? []
      : [['adapter', `LoRA with rank ${adapter.rank} and alpha ${adapter.alpha}, for ${adapter.base}`]]),
    ['family', shape.family],
    ['parameters', `${millions(report.parameters)} (${report.parameters.toLocaleString('en')})`],
    [
      'weights',
      `${types}, ${bytes(report.weightBytes)} in ${weightFiles.length === 1 ? 'one file' : `${weightFiles.length} files`}`,
    ],
    ['layers', `${shape.layers} of width ${shape.width}, feed-forward ${shape.feedForwardWidth}`],
    ['heads', `${shape.heads} of width ${shape.headWidth}${groups}`],
    ['context', `${shape.contextLength.toLocaleString('en')} tokens${positions(report)}`],
    ['output layer', shape.tiedHead ? 'tied to the embedding' : 'separate weights'],
    ['tokenizer', describeTokenizer(tokenizer, shape.vocabularySize)],
    [
      'optimizer',
      optimizer === undefined
        ? 'not saved'
        : `after step ${optimizer.step ?? '?'}, ${bytes(optimizer.bytes)}`,
    ],
  ]
}

function positions({ shape: { ropeScaling } }: ModelReport): string {
  return ropeScaling === undefined ? '' : `, RoPE scaling ${ropeScaling.factor}× (${ropeScaling.kind})`
}

function describeTokenizer(tokenizer: ModelReport['tokenizer'], rows: number): string {
  if (tokenizer === undefined)
    return `none in the folder; the model's vocabulary has ${rows.toLocaleString('en')} tokens`
  const { model, vocabularySize, eosToken, chatTemplate } = tokenizer
  return [
    `${model} with ${vocabularySize.toLocaleString('en')} tokens`,
    ...(rows === vocabularySize ? [] : [`the embedding has ${rows.toLocaleString('en')} rows`]),
    eosToken === undefined ? 'no end token' : `end token ${eosToken}`,
    chatTemplate ? 'chat template' : 'no chat template',
  ].join(', ')
}

function lineageRows({ manifest }: ModelReport): string[][] {
  if (manifest === undefined) return [['lineage', 'unknown: not written by coa']]
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
