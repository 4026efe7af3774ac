import { type Command, Option } from 'commander'
import { UsageError } from '../../base/errors/index.ts'
import type { ElementType, OnnxNotes } from '../../engine/index.ts'
import type { GlobalOptions } from '../globals.ts'
import { nextLines } from '../next.ts'
import { byteCount } from '../numbers.ts'
import { bytes, emit, mark } from '../output.ts'
import { describeOnnx } from './model-export.ts'

interface ConvertCommandOptions extends GlobalOptions {
  dtype?: 'f32' | 'f16' | 'bf16'
  shard?: number
  onnx?: string
}

interface Converted {
  checkpoint?: { folder: string; id: string; fingerprint: string; bytes: number; files: number }
  onnx?: { file: string; bytes: number; notes: OnnxNotes }
}

export function registerModelConvert(parent: Command): void {
  parent
    .command('convert')
    .argument('<folder>', 'a checkpoint, or any model in the Hugging Face layout')
    .argument('[out]', 'folder for the converted model')
    .description('convert a model to another dtype, or split its weights into shards')
    .addOption(
      new Option('--dtype <type>', 'dtype of the weights (default: f32)').choices(['f32', 'f16', 'bf16']),
    )
    .option('--shard <size>', 'maximum size of a weights file, such as 2GB', byteCount('--shard'))
    .option('--onnx <file>', 'also export to ONNX, as `coa model export --onnx` does; <out> is then optional')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa model convert models/mine models/mine-bf16 --dtype bf16',
        '  $ coa model convert models/mine models/mine-parts --shard 500MB',
        '\nFor GGUF, ONNX and PEFT, see `coa model export`.',
      ].join('\n'),
    )
    .action(async (folder: string, out: string | undefined, _options, command: Command) => {
      const options = command.optsWithGlobals<ConvertCommandOptions>()
      const converted = await convert(folder, out, options)
      emit(options, converted, () => describe(converted))
    })
}

async function convert(
  folder: string,
  out: string | undefined,
  { dtype, shard, onnx }: ConvertCommandOptions,
): Promise<Converted> {
  if (out === undefined && onnx === undefined) {
    throw new UsageError('no output folder or ONNX file given', {
      fix: 'Run `coa model convert FOLDER OUT` or `coa model convert FOLDER --onnx FILE.onnx`.',
    })
  }
  if (out === undefined && (dtype ?? shard) !== undefined) {
    throw new UsageError('--dtype and --shard need an output folder', {
      fix: 'Give a folder to write to, or omit them: an ONNX file is always float32.',
    })
  }
  const { convertModel, exportOnnx } = await import('../../engine/index.ts')
  const converted: Converted = {}
  if (out !== undefined) {
    const manifest = convertModel(folder, out, {
      createdAt: new Date().toISOString(),
      ...(dtype === undefined ? {} : { elementType: dtype.toUpperCase() as ElementType }),
      ...(shard === undefined ? {} : { maxShardBytes: shard }),
    })
    const { id, fingerprint, files } = manifest
    converted.checkpoint = {
      folder: out,
      id,
      fingerprint,
      bytes: files.reduce((sum, file) => sum + file.bytes, 0),
      files: files.length,
    }
  }
  if (onnx !== undefined) converted.onnx = exportOnnx(folder, onnx)
  return converted
}

function describe({ checkpoint, onnx }: Converted): string {
  return [
    ...(checkpoint === undefined
      ? []
      : [
          `${mark.good} ${checkpoint.folder}: ${checkpoint.files} files, ${bytes(checkpoint.bytes)}`,
          '',
          ...nextLines([['model', 'inspect', checkpoint.folder]]),
        ]),
    ...(onnx === undefined ? [] : [describeOnnx(onnx)]),
  ].join('\n')
}
