import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { Argument, type Command, Option } from 'commander'
import { UsageError } from '../../base/errors/index.ts'
import type { Deployed, DeployTarget } from '../../deploy/index.ts'
import type { GgufFileType } from '../../engine/index.ts'
import type { Grammar } from '../../language/grammar/index.ts'
import type { ProjectConfig } from '../../pipeline/settings.ts'
import { openRun } from '../../store/index.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { shortPath } from '../next.ts'
import { bytes, emit, mark } from '../output.ts'
import { settingsForRun } from '../run-settings.ts'

interface DeployCommandOptions extends GlobalOptions {
  out?: string
  quantize?: 'f16' | 'q8_0' | 'q4_k_m'
  grammar?: string
  name?: string
}

const targets = [
  'ollama',
  'llama-server',
  'vllm',
  'sglang',
  'transformers',
  'browser',
] satisfies DeployTarget[]

export function registerDeploy(program: Command): void {
  program
    .command('deploy')
    .addArgument(new Argument('<target>', 'where the model will run').choices(targets))
    .argument('<checkpoint>', 'a checkpoint, or "nano"')
    .description('write a folder with which a model runs elsewhere, with clients that run its tools')
    .option('-o, --out <folder>', 'folder to write (default: NAME-TARGET)')
    .addOption(
      new Option('--quantize <type>', 'ollama and llama-server: type of the weights (default: f16)').choices([
        'f16',
        'q8_0',
        'q4_k_m',
      ]),
    )
    .option('-g, --grammar <name>', "name or file of a grammar (default: that of the checkpoint's run)")
    .option(
      '--name <name>',
      "the model's name on the server (default: the run's id and the checkpoint's name)",
    )
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa deploy ollama runs/ID/checkpoints/rl --quantize q4_k_m',
        '  $ coa deploy llama-server models/mine --grammar math --out server',
        '  $ coa deploy browser runs/ID/checkpoints/rl --out site',
        '\nThe README.md in the folder has the commands. Existing folders are never overwritten.',
      ].join('\n'),
    )
    .action(async (target: DeployTarget, checkpoint: string, _options, command: Command) => {
      const options = command.optsWithGlobals<DeployCommandOptions>()
      const deployed = await deploy(target, checkpoint, options)
      emit(options, deployed, () => describe(deployed))
    })
}

async function deploy(
  target: DeployTarget,
  checkpoint: string,
  options: DeployCommandOptions,
): Promise<Deployed> {
  const { deployModel } = await import('../../deploy/index.ts')
  const { modelFolder, rolloutSettings } = await import('../../agent/index.ts')
  const model = modelFolder(checkpoint)
  const run = runOf(model)
  const { config } =
    run === undefined
      ? settings(options)
      : settingsForRun(options, run, { uses: () => ['language', 'rollout'] })
  const name = nameOf(options, model, run)
  const { maxTokens, maxTurns } = rolloutSettings(config)
  return deployModel({
    target,
    model,
    out: options.out ?? `${name}-${target}`,
    name,
    grammar: await grammarOf(options, config, run),
    limits: { maxTokens, maxTurns },
    quantize: options.quantize?.toUpperCase() as GgufFileType | undefined,
    createdAt: new Date().toISOString(),
  })
}

/** The run folder that a checkpoint is in. */
function runOf(model: string): string | undefined {
  const folder = dirname(dirname(resolve(model)))
  return basename(dirname(resolve(model))) === 'checkpoints' && existsSync(join(folder, 'manifest.json'))
    ? folder
    : undefined
}

function nameOf({ name }: DeployCommandOptions, model: string, run: string | undefined): string {
  const own = basename(resolve(model))
  const found = name ?? (run === undefined ? own : `${basename(run)}-${own}`).toLowerCase()
  if (/^[a-z0-9][a-z0-9._-]*$/.test(found)) return found
  throw new UsageError(`"${found}" cannot be the name of a model`, {
    fix: 'Choose one of lowercase letters, digits, dots, dashes and underscores: --name my-model.',
  })
}

/** The grammar as the stages of the run use it, with the tools that were added to it. */
async function grammarOf(
  { grammar }: DeployCommandOptions,
  config: ProjectConfig,
  runFolder: string | undefined,
): Promise<Grammar> {
  const { projectGrammar } = await import('../../language/grammar/index.ts')
  const { openWorld } = await import('../../agent/index.ts')
  const { grammarOfRun } = await import('../../deploy/index.ts')
  if (grammar === undefined && runFolder === undefined && config.language.grammar === undefined) {
    throw new UsageError('the checkpoint belongs to no run, so its grammar is unknown', {
      fix: 'Name it: --grammar NAME. `coa grammar list` shows the built-in ones.',
    })
  }
  using run = runFolder === undefined ? undefined : openRun(runFolder)
  const language = grammar === undefined ? config.language : { ...config.language, grammar }
  const domain =
    grammar === undefined && run !== undefined ? grammarOfRun(run) : (await projectGrammar(language)).name
  const world = await openWorld({ ...config, language }, run)
  try {
    return await world.grammarOf({ domain })
  } finally {
    await world.close()
  }
}

function describe({ target, folder, files, gguf, missingTools }: Deployed): string {
  const path = shortPath(folder)
  const size = bytes(files.reduce((sum, file) => sum + file.bytes, 0))
  return [
    `${mark.good} ${path}: ${files.length} files, ${size}${gguf === undefined ? '' : `, weights ${gguf.type}`}`,
    ...(missingTools.length === 0
      ? []
      : [
          `${mark.open} the clients need your own ${missingTools.join(', ')}: add them to tools.${target === 'browser' ? 'js' : 'ts or tools.py'}`,
        ]),
    `  next: read ${path}/README.md`,
  ].join('\n')
}
