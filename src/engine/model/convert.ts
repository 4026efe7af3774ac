import { resolve } from 'node:path'
import {
  type CheckpointManifest,
  checkReplaceable,
  type ElementType,
  EngineError,
  openCheckpoint,
  readOptimizerState,
  saveCheckpoint,
} from '../checkpoint/index.ts'
import { inherited, isSameFolder } from './inherited.ts'

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

/** Writes a model anew in another type or cut into other files; an adapter is merged into its base. The new checkpoint names the old one as its parent. */
export function convertModel(from: string, to: string, options: ConvertOptions): CheckpointManifest {
  const { elementType, maxShardBytes } = options
  if (isSameFolder(from, to)) {
    throw new EngineError('a model cannot be converted onto itself', { fix: 'Name another folder.' })
  }
  // Before the weights are read: that can take a while.
  checkReplaceable(resolve(to))
  const { folder, shape, weights, adapter, manifest } = openCheckpoint(from)
  // What is written has the adapter added in, and its optimiser belongs to the adapter alone.
  const isWhole = adapter === undefined
  const optimizer = options.withoutOptimizer === true || !isWhole ? undefined : readOptimizerState(folder)
  return saveCheckpoint(to, {
    shape,
    weights,
    ...inherited({ folder, manifest }),
    ...(optimizer === undefined ? {} : { optimizer }),
    ...(elementType === undefined ? {} : { elementType }),
    ...(maxShardBytes === undefined ? {} : { maxShardBytes }),
    createdAt: options.createdAt,
    ...(manifest === undefined ? {} : { metrics: manifest.metrics }),
  })
}
