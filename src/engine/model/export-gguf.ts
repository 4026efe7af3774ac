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
  ggufName,
  isReordered,
  type Metadata,
  metadataOfShape,
  metadataOfTokenizer,
  type OutgoingTensor,
  ROPE_FACTORS,
  ropeFactors,
  type TokenizerSource,
  toAdjacentPairs,
  type WritableType,
  writeGguf,
} from '../gguf/index.ts'
import { refuseToOverwrite } from './overwrite.ts'

export interface GgufReport {
  file: string
  bytes: number
  tensors: number
  type: WritableType
  /** Matrices stored as F16, because their rows are not a multiple of 32, as Q8_0 requires. */
  asF16: string[]
}

/** llama.cpp's ids for the predominant tensor type of a file. */
const fileTypes: Record<WritableType, number> = { F32: 0, F16: 1, Q8_0: 7, BF16: 32 }

/**
 * Writes a model with its tokenizer as one GGUF file, for llama.cpp and everything built on it.
 *
 * @example
 * import { exportGguf } from 'chain-of-agents/engine'
 *
 * console.log(exportGguf('models/mine', 'mine.gguf', { type: 'F16' }))
 */
export function exportGguf(folder: string, file: string, options: { type?: WritableType } = {}): GgufReport {
  const { type = 'F16' } = options
  refuseToOverwrite(file)
  const { shape, weights, folder: found } = openCheckpoint(folder)
  const metadata: Metadata = new Map([
    ['general.architecture', { type: 'string', value: shape.family }],
    ['general.type', { type: 'string', value: 'model' }],
    ['general.name', { type: 'string', value: basename(resolve(folder)) }],
    ['general.file_type', { type: 'uint32', value: fileTypes[type] }],
    ['general.quantization_version', { type: 'uint32', value: 2 }],
    ['coa.fingerprint', { type: 'string', value: fingerprintOfFolder(found) }],
    ...metadataOfShape(shape),
    ...metadataOfTokenizer(tokenizerSource(found), shape),
  ])
  const tensors = outgoing(shape, weights, type)
  const bytes = writeGguf(file, metadata, tensors)
  return {
    file: resolve(file),
    bytes,
    tensors: tensors.length,
    type,
    asF16: type === 'Q8_0' ? tensors.filter((each) => each.type === 'F16').map(({ name }) => name) : [],
  }
}

function outgoing(shape: ModelShape, weights: StoredTensors, type: WritableType): OutgoingTensor[] {
  const factors = ropeFactors(shape)
  const tensors = parametersOf(shape).map((parameter): OutgoingTensor => {
    const tensor = weights.get(parameter.name)!
    return {
      name: ggufName(parameter.name),
      shape: tensor.shape,
      type: typeOf(parameter.kind, tensor.shape, type),
      values: () =>
        (isReordered(parameter.name, shape) ? toAdjacentPairs(tensor, shape.headWidth) : tensor).values,
    }
  })
  if (factors === undefined) return tensors
  return [...tensors, { name: ROPE_FACTORS, shape: [factors.length], type: 'F32', values: () => factors }]
}

/** llama.cpp requires norms and biases in float32. */
function typeOf(kind: string, shape: readonly number[], type: WritableType): WritableType {
  if (kind !== 'matrix') return 'F32'
  return type === 'Q8_0' && shape.at(-1)! % 32 !== 0 ? 'F16' : type
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
