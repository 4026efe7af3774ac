import { basename, dirname, resolve } from 'node:path'
import { tokenizerFromJson } from '../../language/tokens/index.ts'
import { describeFile } from '../checkpoint/checkpoint-manifest.ts'
import {
  type CheckpointManifest,
  checkReplaceable,
  checkShape,
  type ElementType,
  EngineError,
  type ModelShape,
  parametersOf,
  readTokenizerFiles,
  type StoredTensors,
  saveCheckpoint,
} from '../checkpoint/index.ts'
import {
  type GgufHeader,
  ggufName,
  isReordered,
  ROPE_FACTORS,
  readGguf,
  readGgufTensor,
  scalingFromFactors,
  shapeFromMetadata,
  toHalves,
  tokenizerFromMetadata,
} from '../gguf/index.ts'

export interface ImportOptions {
  /** Folder of a tokenizer to use instead of the one in the file. */
  tokenizer?: string
  /** Type of the stored weights; default: float32, which represents every value exactly. */
  elementType?: ElementType
  /** ISO time. */
  createdAt: string
}

export interface ImportReport {
  shape: ModelShape
  manifest: CheckpointManifest
  /** Number of tensors per type in the file. */
  types: Record<string, number>
}

/**
 * Makes a model folder from a GGUF file: weights as plain numbers, and tokenizer.json rebuilt from the vocabulary.
 *
 * @example
 * import { importGguf } from 'chain-of-agents/engine'
 *
 * const { shape } = importGguf('model.gguf', 'models/imported', { createdAt: new Date().toISOString() })
 * console.log(shape.family, shape.layers)
 */
export function importGguf(file: string, folder: string, options: ImportOptions): ImportReport {
  checkReplaceable(resolve(folder))
  const header = readGguf(file)
  try {
    return imported(file, folder, header, options)
  } catch (cause) {
    if (!(cause instanceof EngineError)) throw cause
    throw new EngineError(`${file}: ${cause.message}`, {
      ...(cause.fix === undefined ? {} : { fix: cause.fix }),
      details: { file, ...cause.details },
      cause,
    })
  }
}

function imported(file: string, folder: string, header: GgufHeader, options: ImportOptions): ImportReport {
  const factors = header.tensors.get(ROPE_FACTORS)
  const shape = shapeFromMetadata(header.metadata, header.tensors, (plain) =>
    factors === undefined ? undefined : scalingFromFactors(plain, readGgufTensor(file, factors)),
  )
  checkShape(shape)
  const files =
    options.tokenizer === undefined ? rebuilt(header, shape) : readTokenizerFiles(options.tokenizer)
  const types: Record<string, number> = {}
  for (const { type } of header.tensors.values()) types[type] = (types[type] ?? 0) + 1
  const manifest = saveCheckpoint(folder, {
    shape,
    weights: readWeights(file, header, shape),
    files,
    ...(options.elementType === undefined ? {} : { elementType: options.elementType }),
    stage: 'import',
    step: 0,
    createdAt: options.createdAt,
    parent: { fingerprint: describeFile(dirname(file), basename(file)).sha256, path: resolve(file) },
    metadata: { types },
  })
  return { shape, manifest, types }
}

function rebuilt({ metadata }: GgufHeader, { contextLength }: ModelShape): Record<string, string> {
  const { json, config } = tokenizerFromMetadata(metadata, contextLength)
  // Instantiated, so that an inconsistent vocabulary is detected before anything is written.
  tokenizerFromJson(json, config)
  return {
    'tokenizer.json': JSON.stringify(json),
    'tokenizer_config.json': JSON.stringify(config, null, 2),
  }
}

function readWeights(file: string, { tensors }: GgufHeader, shape: ModelShape): StoredTensors {
  // Checked before listing all parameters, which would never end with billions of layers.
  if (shape.layers > tensors.size)
    throw mismatch(`it declares ${shape.layers} layers but has ${tensors.size} tensors`)
  const weights: StoredTensors = new Map()
  const taken = new Set([ROPE_FACTORS])
  for (const { name, shape: wanted } of parametersOf(shape)) {
    const stored = tensors.get(ggufName(name))
    if (stored === undefined) throw mismatch(`${ggufName(name)} is missing`)
    if (String(stored.shape) !== String(wanted)) {
      throw mismatch(`${stored.name} is [${stored.shape}] instead of [${wanted}]`)
    }
    taken.add(stored.name)
    const tensor = { shape: wanted, values: readGgufTensor(file, stored) }
    weights.set(name, isReordered(name, shape) ? toHalves(tensor, shape.headWidth) : tensor)
  }
  const others = [...tensors.keys()].filter((name) => !taken.has(name))
  if (others.length > 0) throw mismatch(`unexpected tensors ${others.slice(0, 5).join(', ')}`)
  return weights
}

function mismatch(problem: string): EngineError {
  return new EngineError(`its tensors do not match its metadata: ${problem}`, {
    fix: "Use a GGUF file of a complete language model, as written by llama.cpp's converter.",
  })
}
