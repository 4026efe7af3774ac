import { basename } from 'node:path'
import type { Command } from 'commander'
import { UsageError } from '../../base/errors/index.ts'
import type { LocalFile, Prepared, Pushed } from '../../deploy/index.ts'
import { keyFrom, readEnvironment } from '../../settings/index.ts'
import { openRun } from '../../store/index.ts'
import { grammarOfCheckpoint, runOfCheckpoint } from '../checkpoint-run.ts'
import { findRun } from '../find-run.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { interruptible } from '../interrupt.ts'
import { shortPath } from '../next.ts'
import { bytes, emit, mark, table } from '../output.ts'
import { showProgress } from '../progress.ts'
import { settingsForRun } from '../run-settings.ts'
import { version } from '../version.ts'

interface PublishCommandOptions extends GlobalOptions {
  repo?: string
  dataset?: string
  run?: string
  grammar?: string
  base?: string
  license?: string
  out?: string
  public?: boolean
  dryRun?: boolean
}

interface Published {
  prepared: Prepared
  files: { model: FileRow[]; dataset: FileRow[] }
  pushed: { model: Pushed; dataset: Pushed | undefined } | undefined
}

type FileRow = Pick<LocalFile, 'name' | 'bytes' | 'sha256'>

export function registerPublish(program: Command): void {
  program
    .command('publish')
    .argument('<checkpoint>', 'a checkpoint')
    .description('prepare a model and its data for the Hugging Face Hub, with cards, and push them')
    .option('--repo <user/name>', 'repository to push to; without it, only the folder is written')
    .option('--dataset <user/name>', "also push the run's sequences, to this repository")
    .option('--run <run>', "the run that trained it (default: the checkpoint's)")
    .option('-g, --grammar <name>', "name or file of a grammar (default: that of the checkpoint's run)")
    .option('--base <id>', 'the base model on the Hub, such as Qwen/Qwen2.5-0.5B (default: as pulled)')
    .option('--license <id>', "license of model and data, such as apache-2.0 (default: the base model's)")
    .option('-o, --out <folder>', 'folder to write (default: NAME-hub)')
    .option('--public', 'make new repositories public (default: private)')
    .option('--dry-run', 'write the folder and list what would be pushed, but push nothing')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa publish runs/ID/checkpoints/rl                                # look at the folder first',
        '  $ coa publish runs/ID/checkpoints/rl --repo me/my-model --dry-run',
        '  $ coa publish runs/ID/checkpoints/rl --repo me/my-model --dataset me/my-data --public',
        '\nThe folder is written once: edit its cards, then push. Delete it to have it written again.',
        'HF_TOKEN must be a token with write access. It is sent to the Hub and to no other host; HF_ENDPOINT names a compatible',
        'server. If a push is interrupted, the same command continues it: files that have arrived are not uploaded again.',
      ].join('\n'),
    )
    .action(async (checkpoint: string, _options, command: Command) => {
      const options = command.optsWithGlobals<PublishCommandOptions>()
      const published = await publish(checkpoint, options)
      emit(options, published, () => describe(published, options))
    })
}

async function publish(checkpoint: string, options: PublishCommandOptions): Promise<Published> {
  for (const [flag, value] of [
    ['--repo', options.repo],
    ['--dataset', options.dataset],
  ])
    checkRepository(flag!, value)
  const account = options.repo === undefined || options.dryRun === true ? undefined : accountOf()
  const { localFiles, preparePublication, pushFolder } = await import('../../deploy/index.ts')
  const { modelFolder, rolloutSettings } = await import('../../agent/index.ts')
  const model = modelFolder(checkpoint)
  const runFolder =
    options.run === undefined
      ? runOfCheckpoint(model)
      : findRun(settings(options).config.project.runs, options.run)
  const { config } =
    runFolder === undefined
      ? settings(options)
      : settingsForRun(options, runFolder, { uses: () => ['language', 'rollout'] })
  const grammar = await grammarOfCheckpoint(options.grammar, config, runFolder)
  const { maxTokens, maxTurns } = rolloutSettings(config)
  const name = options.repo ?? basename(model)
  using run = runFolder === undefined ? undefined : openRun(runFolder)
  const observe = showProgress()
  return await interruptible(async (signal) => {
    const prepared = await preparePublication({
      model,
      out: options.out ?? `${basename(name)}-hub`,
      name,
      dataset: options.dataset,
      run,
      grammar,
      limits: { maxTokens, maxTurns },
      base: options.base,
      license: options.license,
      version,
      createdAt: new Date().toISOString(),
      signal,
    })
    const files = {
      model: await localFiles(prepared.model),
      dataset: prepared.dataset === undefined ? [] : await localFiles(prepared.dataset),
    }
    if (account === undefined) return { prepared, files: rowsOf(files), pushed: undefined }
    const about = { isPrivate: options.public !== true, message: `Upload with coa ${version}` }
    const to = { ...account, signal }
    const data =
      options.dataset === undefined || prepared.dataset === undefined
        ? undefined
        : await pushFolder(files.dataset, { type: 'dataset', repo: options.dataset, ...about }, to, observe)
    const pushed = await pushFolder(
      files.model,
      { type: 'model', repo: options.repo!, ...about },
      to,
      observe,
    )
    return { prepared, files: rowsOf(files), pushed: { model: pushed, dataset: data } }
  }, '\nstopping; run the same command again to continue the push\n').finally(observe.done)
}

function rowsOf(files: { model: LocalFile[]; dataset: LocalFile[] }): Published['files'] {
  const row = ({ name, bytes: size, sha256 }: LocalFile): FileRow => ({ name, bytes: size, sha256 })
  return { model: files.model.map(row), dataset: files.dataset.map(row) }
}

function checkRepository(flag: string, name: string | undefined): void {
  if (name === undefined || /^[\w.-]{1,96}\/[\w.-]{1,96}$/.test(name)) return
  throw new UsageError(`${flag} ${name} is not the name of a repository`, {
    fix: `Write ${flag} USER/NAME, such as ${flag} me/my-model.`,
  })
}

/** Asked for before anything is written. */
function accountOf(): { endpoint: string; token: string } {
  const environment = readEnvironment()
  const token = keyFrom(environment, 'HF_TOKEN')
  const endpoint = environment['HF_ENDPOINT'] || 'https://huggingface.co'
  if (token !== undefined) return { endpoint, token }
  throw new UsageError('HF_TOKEN is not set, so nothing can be pushed', {
    fix: `Create a token with write access at ${endpoint}/settings/tokens and set it: export HF_TOKEN=hf_… Or add --dry-run.`,
  })
}

function describe({ prepared, files, pushed }: Published, { repo, dataset }: PublishCommandOptions): string {
  const path = shortPath(prepared.folder)
  const lines = [
    `${mark.good} ${path}: ${files.model.length} files of the model${files.dataset.length === 0 ? '' : `, ${files.dataset.length} of the dataset`}; license ${prepared.license}${prepared.isNew ? '' : '; as prepared before'}`,
    ...(prepared.hasResults
      ? []
      : [`${mark.open} the card has no results: \`coa eval\` or \`coa compare\` measures them`]),
  ]
  if (pushed === undefined) {
    const rows = [
      ...files.model.map(({ name, bytes: size }) => [`  ${repo ?? 'model'}`, name, bytes(size)]),
      ...files.dataset.map(({ name, bytes: size }) => [
        `  ${dataset ?? 'dataset (not pushed without --dataset)'}`,
        name,
        bytes(size),
      ]),
    ]
    return [...lines, table(rows), `  nothing was pushed; read ${path}/model/README.md`].join('\n')
  }
  return [
    ...lines,
    ...[pushed.model, pushed.dataset].flatMap((each) => (each === undefined ? [] : [pushedLine(each)])),
  ].join('\n')
}

function pushedLine({ url, commit, uploaded, unchanged }: Pushed): string {
  if (commit === undefined) return `${mark.good} ${url}: already up to date`
  const kept = unchanged.length === 0 ? '' : `, ${unchanged.length} unchanged`
  return `${mark.good} ${url}: ${uploaded.length} files pushed${kept}, commit ${commit.slice(0, 12)}`
}
