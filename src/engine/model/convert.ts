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

/**
 * Rewrites a model in another element type or split into other files; an adapter is merged into its base model. The new checkpoint
 * names the old one as its parent.
 *
 * @example
 * import { convertModel } from 'chain-of-agents/engine'
 *
 * const createdAt = new Date().toISOString()
 * convertModel('models/mine', 'models/mine-bf16', { elementType: 'BF16', withoutOptimizer: true, createdAt })
 */
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
