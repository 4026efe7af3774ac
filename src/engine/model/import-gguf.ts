import { basename, dirname, resolve } from 'node:path'
import { tokenizerFromJson } from '../../language/tokens/index.ts'
import { describeFile } from '../checkpoint/checkpoint-manifest.ts'
import {
  type CheckpointManifest,
  checkReplaceable,
  checkShape,
  type ElementType,
  EMBEDDING,
  EngineError,
  HEAD,
  type ModelShape,
  nonFiniteFindings,
  parametersOf,
  readTokenizerFiles,
  saveCheckpoint,
  type TensorsToSave,
} from '../checkpoint/index.ts'
import {
  compareHead,
  type GgufHeader,
  type GgufTensor,
  ggufName,
  isReordered,
  ROPE_FACTORS,
  readGguf,
  readGgufRows,
  readGgufTensor,
  scalingFromFactors,
  shapeFromMetadata,
  toHalves,
  tokenizerFromMetadata,
} from '../gguf/index.ts'

export interface ImportOptions {
  /** Folder of a tokenizer to use instead of the one in the file. */
  tokenizer?: string
  /** Type of the stored weights; default: bfloat16, which rounds quantized values less than quantization already has. */
  elementType?: ElementType
  /** Keep an output head that is a second copy of the embedding, instead of tying the two. */
  keepHead?: boolean
  /** Where the file came from, for the manifest. */
  origin?: Record<string, string>
  /** ISO time. */
  createdAt: string
}

export interface ImportReport {
  shape: ModelShape
  manifest: CheckpointManifest
  /** Number of tensors per type in the file. */
  types: Record<string, number>
  /** The types of embedding and head, if the head was a copy: the one kept, and the median relative distance of their rows. */
  tied: { embedding: string; head: string; kept: string; distance: number } | undefined
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
  const stored = shapeFromMetadata(header.metadata, header.tensors, (plain) =>
    factors === undefined ? undefined : scalingFromFactors(plain, readGgufTensor(file, factors)),
  )
  checkShape(stored)
  const files =
    options.tokenizer === undefined ? rebuilt(header, stored) : readTokenizerFiles(options.tokenizer)
  const tensors = tensorsOf(header, stored)
  const tied = options.keepHead === true ? undefined : tieHead(file, tensors)
  const shape = tied === undefined ? stored : { ...stored, tiedHead: true }
  const types: Record<string, number> = {}
  for (const { type } of header.tensors.values()) types[type] = (types[type] ?? 0) + 1
  const manifest = saveCheckpoint(folder, {
    shape,
    weights: streamed(file, tensors, shape),
    files,
    elementType: options.elementType ?? 'BF16',
    stage: 'import',
    step: 0,
    createdAt: options.createdAt,
    parent: { fingerprint: describeFile(dirname(file), basename(file)).sha256, path: resolve(file) },
    metadata: { types, ...(tied === undefined ? {} : { tied }), ...options.origin },
  })
  return { shape, manifest, types, tied }
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

/** The tensor of each parameter; all are checked before any is read. */
function tensorsOf({ tensors }: GgufHeader, shape: ModelShape): Map<string, GgufTensor> {
  // Checked before listing all parameters, which would never end with billions of layers.
  if (shape.layers > tensors.size)
    throw mismatch(`it declares ${shape.layers} layers but has ${tensors.size} tensors`)
  const found = new Map<string, GgufTensor>()
  const taken = new Set([ROPE_FACTORS])
  for (const { name, shape: wanted } of parametersOf(shape)) {
    const stored = tensors.get(ggufName(name))
    if (stored === undefined) throw mismatch(`${ggufName(name)} is missing`)
    if (String(stored.shape) !== String(wanted)) {
      throw mismatch(`${stored.name} is [${stored.shape}] instead of [${wanted}]`)
    }
    taken.add(stored.name)
    found.set(name, stored)
  }
  const others = [...tensors.keys()].filter((name) => !taken.has(name))
  if (others.length > 0) throw mismatch(`unexpected tensors ${others.slice(0, 5).join(', ')}`)
  return found
}

/** If the head is a copy of the embedding, leaves only the more precise of the two, as the embedding. */
function tieHead(file: string, tensors: Map<string, GgufTensor>): ImportReport['tied'] {
  const [embedding, head] = [tensors.get(EMBEDDING)!, tensors.get(HEAD)]
  if (head === undefined) return undefined
  const { isCopy, distance, better } = compareHead(file, embedding, head)
  if (!isCopy) return undefined
  tensors.set(EMBEDDING, better)
  tensors.delete(HEAD)
  return { embedding: embedding.type, head: head.type, kept: better.type, distance }
}

function streamed(file: string, tensors: Map<string, GgufTensor>, shape: ModelShape): TensorsToSave {
  return new Map(
    [...tensors].map(([name, tensor]) => [
      name,
      {
        shape: tensor.shape,
        *parts() {
          for (const values of isReordered(name, shape) ? [whole(tensor)] : readGgufRows(file, tensor)) {
            checkFinite(tensor.name, values)
            yield values
          }
        },
      },
    ]),
  )

  function whole(tensor: GgufTensor): Float32Array {
    return toHalves({ shape: tensor.shape, values: readGgufTensor(file, tensor) }, shape.headWidth).values
  }
}

function checkFinite(name: string, values: Float32Array): void {
  if (nonFiniteFindings([[name, { values }]]).length === 0) return
  throw new EngineError(`${name} has NaN or infinite values`, {
    fix: 'The file is damaged, or was made from a broken model: use another one.',
  })
}

function mismatch(problem: string): EngineError {
  return new EngineError(`its tensors do not match its metadata: ${problem}`, {
    fix: "Use a GGUF file of a complete language model, as written by llama.cpp's converter.",
  })
}
