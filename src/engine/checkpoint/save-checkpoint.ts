import { join, resolve } from 'node:path'
import { writeFileAtomic } from '../../base/files/index.ts'
import {
  type CheckpointManifest,
  type DescribedContents,
  describeFile,
  MANIFEST_FILE,
  manifestOf,
} from './checkpoint-manifest.ts'
import type { ElementType } from './element-types.ts'
import { EngineError, listed } from './engine-error.ts'
import { configFromShape, generationFromShape } from './model-config.ts'
import type { ModelShape } from './model-shape.ts'
import { OPTIMIZER_FILE, type OptimizerState, writeOptimizerState } from './optimizer-state.ts'
import { checkReplaceable, replaceFolder } from './replace-folder.ts'
import { INDEX_FILE, isPlainName } from './shards-read.ts'
import { json, writeWeights } from './shards-write.ts'
import {
  nonFiniteFindings,
  type StoredTensor,
  type StreamedTensor,
  type TensorsToSave,
} from './stored-tensor.ts'
import { checkWeights, dropDerived, parameterCount } from './weight-names.ts'

export interface CheckpointContents extends DescribedContents {
  shape: ModelShape
  weights: TensorsToSave
  /** Additional files, copied as they are: the tokenizer's (see `readTokenizerFiles`), or a generation_config.json. */
  files?: Record<string, string | Uint8Array>
  optimizer?: OptimizerState
  /** Type of the stored weights; default F32. */
  elementType?: ElementType
  maxShardBytes?: number
  /** Also save NaN and infinite weights, to investigate a failed training run. */
  allowNonFinite?: boolean
}

/**
 * Saves a checkpoint atomically: an existing checkpoint stays until the new one is complete on disk, and is kept if
 * saving fails. A folder with other content is rejected.
 */
export function saveCheckpoint(path: string, contents: CheckpointContents): CheckpointManifest {
  const folder = resolve(path)
  const weights = new Map(contents.weights)
  checkContents(folder, contents, weights)
  let manifest: CheckpointManifest | undefined
  try {
    replaceFolder(folder, (temporary) => {
      const files = writeFiles(temporary, contents, weights).map((name) => describeFile(temporary, name))
      manifest = manifestOf(folder, files, { ...contents, parameters: parameterCount(contents.shape) })
      writeFileAtomic(join(temporary, MANIFEST_FILE), json(manifest))
    })
  } catch (cause) {
    if (cause instanceof EngineError) throw cause
    throw new EngineError(`cannot save the checkpoint ${folder}: ${(cause as Error).message}`, {
      fix: "Check the free disk space and the folder's permissions; the previous checkpoint is intact.",
      details: { folder },
      cause,
    })
  }
  return manifest!
}

/** Validates everything before anything is written. */
function checkContents(
  folder: string,
  contents: CheckpointContents,
  weights: Map<string, StoredTensor | StreamedTensor>,
): void {
  const { shape, files = {} } = contents
  checkReplaceable(folder)
  checkWeights(weights, shape)
  dropDerived(weights, shape)
  const nonFinite = contents.allowNonFinite ? [] : nonFiniteFindings(weights)
  if (nonFinite.length > 0) {
    throw new EngineError(`the weights have NaN or infinite values: ${listed(nonFinite)}`, {
      fix: 'Training has diverged: return to the last checkpoint and lower the learning rate.',
      details: { tensors: nonFinite },
    })
  }
  const wrong = Object.keys(files).filter(
    (name) => !isPlainName(name) || reserved.has(name) || name.endsWith('.safetensors'),
  )
  if (wrong.length > 0) {
    throw new EngineError(`invalid file names in a checkpoint: ${listed(wrong)}`, {
      fix: 'Use plain file names that the checkpoint does not use itself.',
    })
  }
}

const reserved = new Set(['config.json', MANIFEST_FILE, INDEX_FILE])

function writeFiles(folder: string, contents: CheckpointContents, weights: TensorsToSave): string[] {
  const { shape, elementType = 'F32', maxShardBytes, optimizer } = contents
  const texts: Record<string, string | Uint8Array> = {
    'config.json': json(configFromShape(shape, elementType)),
    'generation_config.json': json(generationFromShape(shape)),
    ...contents.files,
  }
  for (const [name, text] of Object.entries(texts)) writeFileAtomic(join(folder, name), text)
  const weightFiles = writeWeights(folder, weights, {
    elementType,
    ...(maxShardBytes === undefined ? {} : { maxShardBytes }),
    // Without an index, vLLM and SGLang load every *.safetensors file in a folder, including the optimizer's.
    alwaysIndex: optimizer !== undefined,
  })
  if (optimizer !== undefined) writeOptimizerState(folder, optimizer)
  return [...Object.keys(texts), ...weightFiles, ...(optimizer === undefined ? [] : [OPTIMIZER_FILE])].sort()
}
