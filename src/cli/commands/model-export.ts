import { type Command, Option } from 'commander'
import pc from 'picocolors'
import { UsageError } from '../../base/errors/index.ts'
import type { GgufFileType, GgufReport, OnnxNotes, PeftReport } from '../../engine/index.ts'
import type { GlobalOptions } from '../globals.ts'
import { bytes, emit, mark } from '../output.ts'

interface ExportCommandOptions extends GlobalOptions {
  gguf?: boolean
  onnx?: boolean
  peft?: boolean
  type?: 'f32' | 'f16' | 'bf16' | 'q8_0' | 'q4_k_m'
}

type Exported =
  | { format: 'gguf'; gguf: GgufReport }
  | { format: 'onnx'; onnx: { file: string; bytes: number; notes: OnnxNotes } }
  | { format: 'peft'; peft: PeftReport }

export function registerModelExport(parent: Command): void {
  parent
    .command('export')
    .argument('<folder>', 'a checkpoint, or any model in the Hugging Face layout')
    .argument('<out>', 'file to write; with --peft, a folder')
    .description('export a model to GGUF (llama.cpp) or ONNX (browsers), or its LoRA adapters to PEFT')
    .option('--gguf', 'a file with weights and tokenizer for llama.cpp, Ollama, LM Studio and others')
    .option('--onnx', 'a file for onnxruntime, including in browsers')
    .option('--peft', 'the LoRA adapters of a checkpoint, as a PEFT folder')
    .addOption(
      new Option(
        '--type <type>',
        'with --gguf: data type of matrices; q4_k_m mixes Q4_K and Q6_K (default: f16)',
      ).choices(['f32', 'f16', 'bf16', 'q8_0', 'q4_k_m']),
    )
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa model export models/mine mine.gguf --gguf',
        '  $ coa model export models/mine mine.gguf --gguf --type q8_0',
        '  $ coa model export models/mine mine.onnx --onnx',
        '  $ coa model export runs/ID/checkpoints/sft adapter --peft',
        '\nTo serve a GGUF file: llama-server -m mine.gguf. Existing files are never overwritten.',
      ].join('\n'),
    )
    .action(async (folder: string, out: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ExportCommandOptions>()
      const exported = await exportModel(folder, out, options)
      emit(options, exported, () => describe(exported))
    })
}

async function exportModel(folder: string, out: string, options: ExportCommandOptions): Promise<Exported> {
  const { type } = options
  const formats = (['gguf', 'onnx', 'peft'] as const).filter((format) => options[format] === true)
  const [format] = formats
  if (format === undefined || formats.length > 1) {
    throw new UsageError(
      format === undefined
        ? 'no format given'
        : `${formats.map((each) => `--${each}`).join(' and ')} are mutually exclusive`,
      { fix: 'Give one of --gguf, --onnx and --peft.' },
    )
  }
  if (type !== undefined && format !== 'gguf') {
    throw new UsageError(`--type works only with --gguf; --${format} is always float32`, {
      fix: 'Omit --type.',
    })
  }
  const { exportGguf, exportOnnx, exportPeft, refuseToOverwrite } = await import('../../engine/index.ts')
  if (format === 'peft') return { format, peft: exportPeft(folder, out) }
  if (format === 'gguf') {
    const written = type === undefined ? {} : { type: type.toUpperCase() as GgufFileType }
    return { format, gguf: exportGguf(folder, out, written) }
  }
  refuseToOverwrite(out)
  return { format, onnx: exportOnnx(folder, out) }
}

function describe(exported: Exported): string {
  if (exported.format === 'peft') {
    const { folder, rank, alpha, projections } = exported.peft
    return `${mark.good} ${folder}: adapters with rank ${rank} and alpha ${alpha} for ${projections} projections`
  }
  if (exported.format === 'onnx') return describeOnnx(exported.onnx)
  const { file, bytes: size, tensors, type, types, widened, separation } = exported.gguf
  return [
    `${mark.good} ${file}: ${tensors} tensors, ${type}, ${bytes(size)}`,
    ...(widened.length === 0
      ? []
      : [
          `${mark.open} ${widened.length} tensors have more bits than planned, because their rows do not divide into blocks`,
          `  tensor types: ${Object.entries(types)
            .map(([name, count]) => `${name} (${count})`)
            .join(', ')}`,
        ]),
    ...(separation === undefined
      ? []
      : [
          `${mark.open} llama.cpp lacks this tokenizer's pattern: send token ids, or text with U+001F after each word;`,
          '  `coa deploy` writes clients that do so',
        ]),
    pc.dim(`  next: llama-server -m ${file}`),
  ].join('\n')
}

export function describeOnnx({
  file,
  bytes: size,
  notes,
}: {
  file: string
  bytes: number
  notes: OnnxNotes
}): string {
  return [
    `${mark.good} ${file}: ${bytes(size)}`,
    `  input ids: ${notes.inputs.ids}`,
    `  output logprobs: ${notes.outputs.logprobs}`,
    pc.dim(`  also described in ${file}.json`),
  ].join('\n')
}
