import { existsSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import {
  type CheckpointManifest,
  checkReplaceable,
  type ElementType,
  EngineError,
  fingerprintOfFolder,
  openCheckpoint,
  readOptimizerState,
  readTokenizerFiles,
  saveCheckpoint,
} from '../checkpoint/index.ts'

export interface ConvertOptions {
  /** Left out: float32. */
  elementType?: ElementType
  /** Bytes of weights in one file. */
  maxShardBytes?: number
  /** Leave the optimiser's state out; a third of the size remains, and training would start its moments anew. */
  withoutOptimizer?: boolean
  /** ISO time, given by the caller. */
  createdAt: string
}

/** Writes a model anew in another type or cut into other files. The new checkpoint names the old one as its parent. */
export function convertModel(from: string, to: string, options: ConvertOptions): CheckpointManifest {
  const { elementType, maxShardBytes } = options
  if (resolved(from) === resolved(to)) {
    throw new EngineError('a model cannot be converted onto itself', { fix: 'Name another folder.' })
  }
  // Before the weights are read: that can take a while.
  checkReplaceable(resolve(to))
  const { folder, shape, weights, manifest } = openCheckpoint(from)
  const optimizer = options.withoutOptimizer === true ? undefined : readOptimizerState(folder)
  return saveCheckpoint(to, {
    shape,
    weights,
    ...(existsSync(join(folder, 'tokenizer.json')) ? { files: readTokenizerFiles(folder) } : {}),
    ...(optimizer === undefined ? {} : { optimizer }),
    ...(elementType === undefined ? {} : { elementType }),
    ...(maxShardBytes === undefined ? {} : { maxShardBytes }),
    stage: manifest?.stage ?? 'import',
    step: manifest?.step ?? 0,
    createdAt: options.createdAt,
    parent: {
      ...(manifest === undefined ? {} : { id: manifest.id }),
      fingerprint: fingerprintOfFolder(folder),
      path: folder,
    },
    ...(manifest === undefined ? {} : { metrics: manifest.metrics }),
  })
}

function resolved(path: string): string {
  return existsSync(path) ? realpathSync(path) : resolve(path)
}
