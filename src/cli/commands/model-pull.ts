import { type Command, Option } from 'commander'
import type { ElementType, PulledModel } from '../../engine/index.ts'
import { keyFrom, readEnvironment } from '../../settings/index.ts'
import type { GlobalOptions } from '../globals.ts'
import { interruptible } from '../interrupt.ts'
import { nextLines, shortPath } from '../next.ts'
import { bytes, emit, mark } from '../output.ts'
import { printNote, showProgress } from '../progress.ts'
import { millions } from './engine-options.ts'

interface PullCommandOptions extends GlobalOptions {
  tokenizer?: string
  dtype?: 'f32' | 'f16' | 'bf16'
  untied?: boolean
}

export function registerModelPull(parent: Command): void {
  parent
    .command('pull')
    .argument(
      '<model>',
      'a short name, a Hugging Face id (ORGANIZATION/NAME, optionally @REVISION), or a .gguf URL or file',
    )
    .argument('[folder]', 'folder to write the model to (default: models/NAME)')
    .description('download a model, verify it, and make a model folder of it; resumes')
    .addOption(
      new Option('--dtype <type>', 'GGUF: dtype of the weights (default: bf16)').choices([
        'f32',
        'f16',
        'bf16',
      ]),
    )
    .option('--untied', 'GGUF: keep an output head that is a copy of the embedding')
    .option('-t, --tokenizer <folder>', 'GGUF: use this tokenizer instead of the one in the file')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa model pull qwen2.5-coder-1.5b',
        '  $ coa model pull Qwen/Qwen2.5-Coder-1.5B-Instruct@main models/coder',
        '  $ coa model pull https://example.org/SmolLM2-135M-Instruct-Q8_0.gguf models/smollm2',
        '\nShort names: qwen2.5-0.5b, -1.5b, -3b, -7b; qwen2.5-coder-0.5b, -1.5b, -3b, -7b; qwen3-0.6b, -1.7b, -4b; smollm2-135m, -360m,',
        '-1.7b; llama-3.2-1b, -3b (gated). They stand for the instruction-tuned models on the Hugging Face Hub.',
        '\nOnly the files that are needed are downloaded: config, tokenizer, chat template and safetensors. Sizes and checksums are verified;',
        'an interrupted download is resumed by the same command. HF_TOKEN is sent to the Hub for gated and private models (to no other',
        'host), and HF_ENDPOINT names a mirror.',
      ].join('\n'),
    )
    .action(async (model: string, folder: string | undefined, _options, command: Command) => {
      const options = command.optsWithGlobals<PullCommandOptions>()
      const { pullModel } = await import('../../engine/index.ts')
      const environment = readEnvironment()
      const observe = showProgress()
      const pulled = await interruptible(
        (signal) =>
          pullModel(model, {
            folder,
            createdAt: new Date().toISOString(),
            endpoint: environment['HF_ENDPOINT'] || undefined,
            token: keyFrom(environment, 'HF_TOKEN'),
            elementType: options.dtype?.toUpperCase() as ElementType | undefined,
            keepHead: options.untied,
            tokenizer: options.tokenizer,
            onProgress: observe,
            onNote: printNote,
            signal,
          }),
        '\nstopping; run the same command again to resume the download\n',
      ).finally(observe.done)
      const { manifest, ...rest } = pulled
      const { id, fingerprint, parameters } = manifest
      emit(options, { ...rest, id, fingerprint, parameters }, () => describe(pulled))
    })
}

function describe({
  folder,
  manifest,
  source,
  revision,
  license,
  files,
  isNew,
  imported,
}: PulledModel): string {
  const path = shortPath(folder)
  const size = bytes(manifest.files.reduce((sum, file) => sum + file.bytes, 0))
  const unverified = files.filter(({ isVerified }) => !isVerified).map(({ name }) => name)
  return [
    `${mark.good} ${path}: ${millions(manifest.parameters)} parameters, ${size} in ${manifest.files.length} files`,
    `  ${[`from ${source}`, ...(revision === undefined ? [] : [`commit ${revision.slice(0, 12)}`]), ...(license === undefined ? [] : [`license ${license}`])].join(', ')}`,
    ...(isNew ? [] : ['  already existed; all files match their checksums']),
    ...(files.length > 0 && unverified.length === 0 ? ['  all files match the checksums on the server'] : []),
    ...(unverified.length > 0
      ? [`${mark.open} the server has no checksums for ${unverified.join(', ')}`]
      : []),
    ...(imported?.tied === undefined
      ? []
      : [`  the output head is a copy of the embedding; tied, using the ${imported.tied.kept} copy`]),
    '',
    ...nextLines([['generate', '--model', path, '--chat', 'Who are you?']]),
  ].join('\n')
}
