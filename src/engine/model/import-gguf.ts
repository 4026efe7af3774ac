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
  /** A folder whose tokenizer is taken instead of the one in the file. */
  tokenizer?: string
  /** How weights are stored; left out: float32, which holds every value of the file as it is. */
  elementType?: ElementType
  /** ISO time, given by the caller. */
  createdAt: string
}

export interface ImportReport {
  shape: ModelShape
  manifest: CheckpointManifest
  /** How many tensors of the file had which type. */
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
  // Built once, so that a vocabulary that does not hang together is found before anything is written.
  tokenizerFromJson(json, config)
  return {
    'tokenizer.json': JSON.stringify(json),
    'tokenizer_config.json': JSON.stringify(config, null, 2),
  }
}

function readWeights(file: string, { tensors }: GgufHeader, shape: ModelShape): StoredTensors {
  // Before a list of all parameters is made: with billions of layers that would never end.
  if (shape.layers > tensors.size)
    throw unfit(`it says ${shape.layers} layers, and has ${tensors.size} tensors`)
  const weights: StoredTensors = new Map()
  const taken = new Set([ROPE_FACTORS])
  for (const { name, shape: wanted } of parametersOf(shape)) {
    const stored = tensors.get(ggufName(name))
    if (stored === undefined) throw unfit(`${ggufName(name)} is missing`)
    if (String(stored.shape) !== String(wanted)) {
      throw unfit(`${stored.name} is [${stored.shape}] and should be [${wanted}]`)
    }
    taken.add(stored.name)
    const tensor = { shape: wanted, values: readGgufTensor(file, stored) }
    weights.set(name, isReordered(name, shape) ? toHalves(tensor, shape.headWidth) : tensor)
  }
  const others = [...tensors.keys()].filter((name) => !taken.has(name))
  if (others.length > 0) throw unfit(`it has ${others.slice(0, 5).join(', ')}, which such a model has not`)
  return weights
}

function unfit(problem: string): EngineError {
  return new EngineError(`its tensors do not fit what it says of itself: ${problem}`, {
    fix: 'Use a GGUF file of one whole language model, as the converter of llama.cpp writes it.',
  })
}
