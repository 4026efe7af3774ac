import { type Command, Option } from 'commander'
import type { ElementType } from '../../engine/index.ts'
import type { GlobalOptions } from '../globals.ts'
import { nextLines } from '../next.ts'
import { emit, mark } from '../output.ts'
import { millions } from './engine-options.ts'

interface ImportCommandOptions extends GlobalOptions {
  tokenizer?: string
  dtype?: 'f32' | 'f16' | 'bf16'
  untied?: boolean
}

export function registerModelImport(parent: Command): void {
  parent
    .command('import')
    .argument('<file>', 'GGUF file of a llama, qwen2 or qwen3 model')
    .argument('<folder>', 'folder to write the model to')
    .description('convert a GGUF file to a model folder that can be trained and run')
    .option('-t, --tokenizer <folder>', 'use this tokenizer instead of the one in the file')
    .addOption(
      new Option('--dtype <type>', 'dtype of the weights (default: bf16)').choices(['f32', 'f16', 'bf16']),
    )
    .option('--untied', 'keep an output head that is a copy of the embedding')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa model import SmolLM2-135M-Instruct-Q8_0.gguf models/smollm2',
        '  $ coa model import llama-2.gguf models/llama-2 --tokenizer models/llama-2-original',
        '\nSupports F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K and Q6_K. Quantized weights are dequantized: the',
        'folder is larger than the file, but not more precise. If the output head is a second copy of the embedding, as in GGUF files',
        'of Qwen2.5-Coder, the two are tied and the more precise copy is kept.',
      ].join('\n'),
    )
    .action(async (file: string, folder: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ImportCommandOptions>()
      const { importGguf, parameterCount } = await import('../../engine/index.ts')
      const { shape, manifest, types, tied } = importGguf(file, folder, {
        createdAt: new Date().toISOString(),
        ...(options.tokenizer === undefined ? {} : { tokenizer: options.tokenizer }),
        ...(options.untied === true ? { keepHead: true } : {}),
        ...(options.dtype === undefined ? {} : { elementType: options.dtype.toUpperCase() as ElementType }),
      })
      const parameters = parameterCount(shape)
      const { id, fingerprint } = manifest
      emit(options, { folder, id, fingerprint, parameters, types, tied, shape }, () =>
        [
          `${mark.good} ${folder}: ${shape.family}, ${millions(parameters)} parameters`,
          `  tensor types in the file: ${Object.entries(types)
            .map(([type, count]) => `${type} (${count})`)
            .join(', ')}`,
          ...(tied === undefined
            ? []
            : [`  the output head is a copy of the embedding; tied, using the ${tied.kept} copy`]),
          '',
          ...nextLines([['generate', '--model', folder, '--chat', 'Who are you?']]),
        ].join('\n'),
      )
    })
}
