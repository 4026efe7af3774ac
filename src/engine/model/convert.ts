import { resolve } from 'node:path'
import {
  type CheckpointManifest,
  checkReplaceable,
  type ElementType,
  EngineError,
  openCheckpoint,
  saveCheckpoint,
} from '../checkpoint/index.ts'
import { inherited, isSameFolder } from './inherited.ts'

export interface ConvertOptions {
  /** Default: float32. */
  elementType?: ElementType
  /** Maximum bytes of weights per file. */
  maxShardBytes?: number
  /** ISO time. */
  createdAt: string
}

/**
 * Rewrites a model in another element type or split into other files; an adapter is merged into its base model. The new checkpoint
 * names the old one as its parent. Optimizer state is not converted.
 *
 * @example
 * import { convertModel } from 'chain-of-agents/engine'
 *
 * const createdAt = new Date().toISOString()
 * convertModel('models/mine', 'models/mine-bf16', { elementType: 'BF16', createdAt })
 */
export function convertModel(from: string, to: string, options: ConvertOptions): CheckpointManifest {
  const { elementType, maxShardBytes } = options
  if (isSameFolder(from, to)) {
    throw new EngineError('a model cannot be converted onto itself', { fix: 'Name another folder.' })
  }
  // Before the weights are read, which can take a while.
  checkReplaceable(resolve(to))
  const { folder, shape, weights, manifest } = openCheckpoint(from)
  return saveCheckpoint(to, {
    shape,
    weights,
    ...inherited({ folder, manifest }),
    ...(elementType === undefined ? {} : { elementType }),
    ...(maxShardBytes === undefined ? {} : { maxShardBytes }),
    createdAt: options.createdAt,
    ...(manifest === undefined ? {} : { metrics: manifest.metrics }),
  })
}
