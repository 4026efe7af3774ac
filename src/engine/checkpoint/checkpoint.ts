import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type AdapterCheckpoint, adapterOf, addAdapters, isModelFolder } from './adapter-checkpoint.ts'
import {
  type CheckpointManifest,
  describeFile,
  fingerprintOf,
  MANIFEST_FILE,
  readManifest,
} from './checkpoint-manifest.ts'
import { type ElementType, elementTypeOf } from './element-types.ts'
import { EngineError } from './engine-error.ts'
import { shapeFromConfig } from './model-config.ts'
import type { ModelShape } from './model-shape.ts'
import { OPTIMIZER_FILE } from './optimizer-state.ts'
import { readPeftAdapter } from './peft-adapter.ts'
import { readJsonFile } from './read-bytes.ts'
import { currentFolder } from './replace-folder.ts'
import { findWeightFiles, readWeights, type WeightFiles } from './shards-read.ts'
import type { StoredTensors } from './stored-tensor.ts'
import { verifyFiles, verifyIfSavedByCoa } from './verify-files.ts'
import { checkWeights, dropDerived, isRopeTable } from './weight-names.ts'

/** A model without its weights. */
export interface CheckpointHeaders {
  /** Its location; optimizer state and tokenizer are read from here. */
  folder: string
  shape: ModelShape
  /** The type its weights are stored in, and those of checkpoints trained from it. */
  elementType: ElementType
  /** For an adapter, those of its base. */
  weightFiles: WeightFiles
  adapter: AdapterCheckpoint | undefined
  /** Undefined for a model folder written by other software. */
  manifest: CheckpointManifest | undefined
  /** Names of all files in the folder. */
  files: string[]
}

export interface OpenCheckpoint extends Omit<CheckpointHeaders, 'weightFiles'> {
  /** Exactly the parameters of the shape, as Float32. */
  weights: StoredTensors
}

/** Checks configuration and headers only, which is fast for a model of any size. */
export function readCheckpointHeaders(path: string): CheckpointHeaders {
  const folder = existingFolder(path)
  const manifest = readManifest(folder)
  const adapter = adapterOf(folder)
  const modelFolder = adapter?.base ?? folder
  const config = readJsonFile(join(modelFolder, 'config.json'))
  const weightFiles = findWeightFiles(modelFolder)
  const entries = new Map([...weightFiles.files.values()].flatMap((tensors) => [...tensors]))
  const shape = inFile(join(modelFolder, 'config.json'), () => shapeFromConfig(config, entries.keys()))
  inFile(modelFolder, () => checkWeights(entries, shape))
  return {
    folder,
    shape,
    elementType: elementTypeOf(config),
    weightFiles,
    adapter,
    manifest,
    files: filesIn(folder),
  }
}

/**
 * Opens a checkpoint or any model folder in the Hugging Face layout; an adapter is added to its base model. Everything that the
 * headers allow is checked before the weights are read. Files listed in a manifest are compared with their hashes.
 *
 * @example
 * import { openCheckpoint } from 'chain-of-agents/engine'
 *
 * const { shape, weights } = openCheckpoint('models/mine')
 * console.log(shape.layers, [...weights.keys()].slice(0, 3))
 */
export function openCheckpoint(path: string, options: { allowNonFinite?: boolean } = {}): OpenCheckpoint {
  const { weightFiles, ...headers } = readCheckpointHeaders(path)
  // Optimizer state is most of a checkpoint; it is verified when it is read.
  const { adapter, folder } = headers
  for (const each of adapter === undefined ? [folder] : [folder, adapter.base])
    verifyIfSavedByCoa(each, (name) => name !== OPTIMIZER_FILE)
  const weights = readWeights(weightFiles, { ...options, only: (name) => !isRopeTable(name) })
  inFile(folder, () => dropDerived(weights, headers.shape))
  if (adapter !== undefined) inFile(folder, () => addAdapters(weights, readPeftAdapter(folder), adapter.base))
  return { ...headers, weights }
}

/**
 * Compares every file with its hash in the manifest. One error names all files that are missing or changed.
 *
 * @example
 * import { verifyCheckpoint } from 'chain-of-agents/engine'
 *
 * const { stage, step, fingerprint } = verifyCheckpoint('runs/my-run/checkpoints/sft')
 * console.log(stage, step, fingerprint)
 */
export function verifyCheckpoint(path: string): CheckpointManifest {
  const folder = existingFolder(path)
  const manifest = readManifest(folder)
  if (manifest === undefined) {
    throw new EngineError(`${folder} has no ${MANIFEST_FILE}, so it cannot be verified`, {
      fix: 'Only checkpoints written by coa can be verified.',
      details: { folder },
    })
  }
  verifyFiles(folder, manifest)
  return manifest
}

/** The fingerprint of any model folder, for the lineage of what is trained from it. */
export function fingerprintOfFolder(path: string): string {
  const folder = existingFolder(path)
  const known = readManifest(folder)?.fingerprint
  return known ?? fingerprintOf(filesIn(folder).map((name) => describeFile(folder, name)))
}

/** The manifest of a checkpoint; undefined if there is none or other software wrote the model. */
export function readCheckpointManifest(path: string): CheckpointManifest | undefined {
  return readManifest(currentFolder(resolve(path)))
}

/** The current location of a checkpoint; throws if there is none. */
export function existingFolder(path: string): string {
  const folder = currentFolder(resolve(path))
  if (isModelFolder(folder)) return folder
  throw new EngineError(existsSync(folder) ? `${folder} has no config.json` : `no checkpoint at ${folder}`, {
    fix: 'Pass a model folder in the Hugging Face layout, with config.json and model.safetensors.',
    details: { folder },
  })
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true })
  // The Hugging Face cache consists of symbolic links.
  return entries
    .filter((entry) => entry.isFile() || entry.isSymbolicLink())
    .map((entry) => entry.name)
    .sort()
}

/** Adds the path to errors of checks that do not know it. */
function inFile<T>(path: string, check: () => T): T {
  try {
    return check()
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    throw new EngineError(`${path}: ${error.message}`, {
      ...(error.fix === undefined ? {} : { fix: error.fix }),
      details: { path, ...error.details },
      cause: error,
    })
  }
}
