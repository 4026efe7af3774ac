import { type Command, Option } from 'commander'
import type { ElementType } from '../../engine/index.ts'
import type { GlobalOptions } from '../globals.ts'
import { nextLines } from '../next.ts'
import { emit, mark } from '../output.ts'

interface MergeCommandOptions extends GlobalOptions {
  dtype?: 'f32' | 'f16' | 'bf16'
}

export function registerModelMergeLora(parent: Command): void {
  parent
    .command('merge-lora')
    .argument('<base>', 'the model that the adapter was trained on')
    .argument('<adapter>', 'a PEFT folder: adapter_config.json and adapter_model.safetensors')
    .argument('<out>', 'folder for the merged model')
    .description("merge a PEFT LoRA adapter into its base model's weights")
    .addOption(
      new Option('--dtype <type>', 'dtype of the weights (default: f32)').choices(['f32', 'f16', 'bf16']),
    )
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa model merge-lora models/smollm2 adapters/lesson models/smollm2-lesson',
        '  $ coa model merge-lora models/mine adapter models/merged --dtype bf16',
        '\nThe embedded engine merges adapters when it saves. The trainer saves only the adapter, with the path of its base model;\n`coa model convert ADAPTER OUT` merges such an adapter.',
      ].join('\n'),
    )
    .action(async (base: string, adapter: string, out: string, _options, command: Command) => {
      const options = command.optsWithGlobals<MergeCommandOptions>()
      const { mergeLora } = await import('../../engine/index.ts')
      const { manifest, changed, ranks } = mergeLora(base, adapter, out, {
        createdAt: new Date().toISOString(),
        ...(options.dtype === undefined ? {} : { elementType: options.dtype.toUpperCase() as ElementType }),
      })
      const { id, fingerprint } = manifest
      emit(options, { folder: out, id, fingerprint, changed, ranks }, () =>
        [
          `${mark.good} ${out}: ${changed} projections changed, rank ${ranks.join(', ')}`,
          '',
          ...nextLines([['model', 'inspect', out]]),
        ].join('\n'),
      )
    })
}
