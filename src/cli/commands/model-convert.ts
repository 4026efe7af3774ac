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
  withoutOptimizer?: boolean
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
    .argument('[out]', 'folder of the converted model')
    .description('write a model folder anew: in another number format, or cut into other files')
    .addOption(
      new Option('--dtype <type>', 'how weights are stored (default: f32)').choices(['f32', 'f16', 'bf16']),
    )
    .option(
      '--shard <size>',
      'cut the weights into files of at most this size, such as 2GB',
      byteCount('--shard'),
    )
    .option('--without-optimizer', 'leave the state of the optimiser out')
    .option('--onnx <file>', 'the same as `coa model export FOLDER FILE --onnx`; <out> is then not needed')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa model convert models/mine models/mine-bf16 --dtype bf16 --without-optimizer',
        '  $ coa model convert models/mine models/mine-parts --shard 500MB',
        '\nFor other formats see `coa model export`.',
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
  { dtype, shard, withoutOptimizer, onnx }: ConvertCommandOptions,
): Promise<Converted> {
  if (out === undefined && onnx === undefined) {
    throw new UsageError('neither a folder nor an ONNX file to write is named', {
      fix: 'Write `coa model convert FOLDER OUT`, or `coa model convert FOLDER --onnx FILE.onnx`.',
    })
  }
  if (out === undefined && (dtype ?? shard ?? withoutOptimizer) !== undefined) {
    throw new UsageError('--dtype, --shard and --without-optimizer are for a folder, and none is named', {
      fix: 'Name the folder to write, or leave them out: an ONNX file is always float32.',
    })
  }
  const { convertModel, exportOnnx } = await import('../../engine/index.ts')
  const converted: Converted = {}
  if (out !== undefined) {
    const manifest = convertModel(folder, out, {
      createdAt: new Date().toISOString(),
      ...(dtype === undefined ? {} : { elementType: dtype.toUpperCase() as ElementType }),
      ...(shard === undefined ? {} : { maxShardBytes: shard }),
      ...(withoutOptimizer === undefined ? {} : { withoutOptimizer }),
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
