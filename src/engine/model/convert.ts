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
  /** Default: float32. */
  elementType?: ElementType
  /** Maximum bytes of weights per file. */
  maxShardBytes?: number
  /** Omit the optimizer state: a third of the size remains, but its moments are lost for further training. */
  withoutOptimizer?: boolean
  /** ISO time. */
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
  // Before the weights are read, which can take a while.
  checkReplaceable(resolve(to))
  const { folder, shape, weights, adapter, manifest } = openCheckpoint(from)
  // The output has the adapter merged, and its optimizer state belongs to the adapter alone.
  const isFullModel = adapter === undefined
  const optimizer = options.withoutOptimizer === true || !isFullModel ? undefined : readOptimizerState(folder)
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
