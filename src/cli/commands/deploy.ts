import { basename, resolve } from 'node:path'
import { Argument, type Command, Option } from 'commander'
import { UsageError } from '../../base/errors/index.ts'
import type { Deployed, DeployTarget } from '../../deploy/index.ts'
import type { GgufFileType } from '../../engine/index.ts'
import { grammarOfCheckpoint, runOfCheckpoint } from '../checkpoint-run.ts'
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
  const run = runOfCheckpoint(model)
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
    grammar: await grammarOfCheckpoint(options.grammar, config, run),
    limits: { maxTokens, maxTurns },
    quantize: options.quantize?.toUpperCase() as GgufFileType | undefined,
    createdAt: new Date().toISOString(),
    onStatus: (line) => process.stderr.write(`${line}\n`),
  })
}

function nameOf({ name }: DeployCommandOptions, model: string, run: string | undefined): string {
  const own = basename(resolve(model))
  const found = name ?? (run === undefined ? own : `${basename(run)}-${own}`).toLowerCase()
  if (/^[a-z0-9][a-z0-9._-]*$/.test(found)) return found
  throw new UsageError(`"${found}" cannot be the name of a model`, {
    fix: 'Choose one of lowercase letters, digits, dots, dashes and underscores: --name my-model.',
  })
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
