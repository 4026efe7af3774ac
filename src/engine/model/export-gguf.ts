import { basename, resolve } from 'node:path'
import {
  fingerprintOfFolder,
  type ModelShape,
  openCheckpoint,
  parametersOf,
  readTokenizerFiles,
  type StoredTensors,
} from '../checkpoint/index.ts'
import { readJsonFile } from '../checkpoint/read-bytes.ts'
import {
  fileTypeIds,
  type GgufFileType,
  ggufName,
  isReordered,
  type Metadata,
  metadataOfShape,
  metadataOfTokenizer,
  type OutgoingTensor,
  ROPE_FACTORS,
  ropeFactors,
  type TokenizerSource,
  tensorTypeIn,
  toAdjacentPairs,
  type WordSeparation,
  type WritableType,
  wordSeparationOf,
  writeGguf,
} from '../gguf/index.ts'
import { refuseToOverwrite } from './overwrite.ts'

export interface GgufReport {
  file: string
  bytes: number
  tensors: number
  type: GgufFileType
  /** Number of tensors per type. */
  types: Record<string, number>
  /** Matrices stored with more bits than intended, because their rows cannot be divided into blocks: 32 or 256 values. */
  widened: { name: string; wanted: WritableType; type: WritableType }[]
  /** How text must be sent, if llama.cpp lacks the tokenizer's pattern. */
  separation: WordSeparation | undefined
}

/**
 * Writes a model with its tokenizer as one GGUF file, for llama.cpp and everything built on it.
 *
 * @example
 * import { exportGguf } from 'chain-of-agents/engine'
 *
 * console.log(exportGguf('models/mine', 'mine.gguf', { type: 'F16' }))
 */
export function exportGguf(folder: string, file: string, options: { type?: GgufFileType } = {}): GgufReport {
  const { type = 'F16' } = options
  refuseToOverwrite(file)
  const { shape, weights, folder: found } = openCheckpoint(folder)
  const tokenizer = tokenizerSource(found)
  const metadata: Metadata = new Map([
    ['general.architecture', { type: 'string', value: shape.family }],
    ['general.type', { type: 'string', value: 'model' }],
    ['general.name', { type: 'string', value: basename(resolve(folder)) }],
    ['general.file_type', { type: 'uint32', value: fileTypeIds[type] }],
    ['general.quantization_version', { type: 'uint32', value: 2 }],
    ['coa.fingerprint', { type: 'string', value: fingerprintOfFolder(found) }],
    ...metadataOfShape(shape),
    ...metadataOfTokenizer(tokenizer, shape),
  ])
  const tensors = outgoing(shape, weights, type)
  const bytes = writeGguf(file, metadata, tensors)
  return {
    file: resolve(file),
    bytes,
    tensors: tensors.length,
    type,
    types: Object.fromEntries(
      Object.entries(Object.groupBy(tensors, (tensor) => tensor.type)).map(([each, of]) => [
        each,
        of!.length,
      ]),
    ),
    widened: tensors
      .filter((tensor) => tensor.type !== tensor.wanted)
      .map(({ name, wanted, type: written }) => ({ name, wanted, type: written })),
    separation: wordSeparationOf(tokenizer.json),
  }
}

type TypedTensor = OutgoingTensor & { wanted: WritableType }

function outgoing(shape: ModelShape, weights: StoredTensors, fileType: GgufFileType): TypedTensor[] {
  const factors = ropeFactors(shape)
  const tensors = parametersOf(shape).map((parameter): TypedTensor => {
    const tensor = weights.get(parameter.name)!
    const name = ggufName(parameter.name)
    return {
      name,
      shape: tensor.shape,
      ...tensorTypeIn(fileType, { name, kind: parameter.kind, shape: tensor.shape }, shape),
      values: () =>
        (isReordered(parameter.name, shape) ? toAdjacentPairs(tensor, shape.headWidth) : tensor).values,
    }
  })
  if (factors === undefined) return tensors
  const table = { name: ROPE_FACTORS, shape: [factors.length], type: 'F32', wanted: 'F32' } as const
  return [...tensors, { ...table, shape: [...table.shape], values: () => factors }]
}

function tokenizerSource(folder: string): TokenizerSource {
  const files = readTokenizerFiles(folder)
  const parsed = (name: string): Record<string, unknown> =>
    files[name] === undefined ? {} : (readJsonFile(resolve(folder, name)) as Record<string, unknown>)
  const template = files['chat_template.jinja']
  const config = parsed('tokenizer_config.json')
  return {
    json: parsed('tokenizer.json'),
    config: template === undefined ? config : { ...config, chat_template: Buffer.from(template).toString() },
  }
}
