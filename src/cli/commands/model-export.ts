import { type Command, Option } from 'commander'
import pc from 'picocolors'
import { UsageError } from '../../base/errors/index.ts'
import type { GgufReport, OnnxNotes, PeftReport, WritableType } from '../../engine/index.ts'
import type { GlobalOptions } from '../globals.ts'
import { bytes, emit, mark } from '../output.ts'

interface ExportCommandOptions extends GlobalOptions {
  gguf?: boolean
  onnx?: boolean
  peft?: boolean
  type?: 'f32' | 'f16' | 'bf16' | 'q8_0'
  base?: string
}

type Exported =
  | { format: 'gguf'; gguf: GgufReport }
  | { format: 'onnx'; onnx: { file: string; bytes: number; notes: OnnxNotes } }
  | { format: 'peft'; peft: PeftReport }

export function registerModelExport(parent: Command): void {
  parent
    .command('export')
    .argument('<folder>', 'a checkpoint, or any model in the Hugging Face layout')
    .argument('<out>', 'the file to write; with --peft a folder')
    .description('write a model for llama.cpp (GGUF), for a browser (ONNX), or its LoRA for PEFT')
    .option('--gguf', 'one file for llama.cpp, Ollama, LM Studio and others, with the tokenizer inside')
    .option('--onnx', 'one file for onnxruntime, in a browser too')
    .option('--peft', 'the adapters of a checkpoint that was trained with LoRA, as a PEFT folder')
    .addOption(
      new Option('--type <type>', 'how GGUF stores matrices (default: f16)').choices([
        'f32',
        'f16',
        'bf16',
        'q8_0',
      ]),
    )
    .option('--base <folder>', 'with --peft: the model that was adapted; checkpoints of the trainer name it')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa model export models/mine mine.gguf --gguf',
        '  $ coa model export models/mine mine.gguf --gguf --type q8_0',
        '  $ coa model export models/mine mine.onnx --onnx',
        '  $ coa model export runs/latest/checkpoints/sft adapter --peft --base models/mine',
        '\nllama.cpp runs the GGUF file: llama-server -m mine.gguf. What is there is never replaced.',
      ].join('\n'),
    )
    .action(async (folder: string, out: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ExportCommandOptions>()
      const exported = await exportModel(folder, out, options)
      emit(options, exported, () => describe(exported))
    })
}

async function exportModel(folder: string, out: string, options: ExportCommandOptions): Promise<Exported> {
  const { type, base } = options
  const formats = (['gguf', 'onnx', 'peft'] as const).filter((format) => options[format] === true)
  const [format] = formats
  if (format === undefined || formats.length > 1) {
    throw new UsageError(
      format === undefined
        ? 'no format is named'
        : `${formats.map((each) => `--${each}`).join(' and ')} exclude each other`,
      { fix: 'Give one of --gguf, --onnx and --peft.' },
    )
  }
  if (type !== undefined && format !== 'gguf') {
    throw new UsageError(`--type is for GGUF, and --${format} is always float32`, { fix: 'Leave it out.' })
  }
  if (base !== undefined && format !== 'peft')
    throw new UsageError('--base is for --peft alone', { fix: 'Leave it out.' })
  const { exportGguf, exportOnnx, exportPeft, refuseToOverwrite } = await import('../../engine/index.ts')
  if (format === 'peft') return { format, peft: exportPeft(folder, out, base) }
  if (format === 'gguf') {
    const written = type === undefined ? {} : { type: type.toUpperCase() as WritableType }
    return { format, gguf: exportGguf(folder, out, written) }
  }
  refuseToOverwrite(out)
  return { format, onnx: exportOnnx(folder, out) }
}

function describe(exported: Exported): string {
  if (exported.format === 'peft') {
    const { folder, rank, alpha, projections } = exported.peft
    return `${mark.good} ${folder}: adapters of rank ${rank}, alpha ${alpha}, on ${projections} projections`
  }
  if (exported.format === 'onnx') return describeOnnx(exported.onnx)
  const { file, bytes: size, tensors, type, asF16 } = exported.gguf
  return [
    `${mark.good} ${file}: ${tensors} tensors, ${type}, ${bytes(size)}`,
    ...(asF16.length === 0
      ? []
      : [`${mark.open} ${asF16.length} tensors are F16: their rows are no multiple of 32, which Q8_0 needs`]),
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
    `  takes ids: ${notes.inputs.ids}`,
    `  gives logprobs: ${notes.outputs.logprobs}`,
    pc.dim(`  the same for programs in ${file}.json`),
  ].join('\n')
}
