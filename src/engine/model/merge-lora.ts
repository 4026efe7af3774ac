import { resolve } from 'node:path'
import { addAdapters } from '../checkpoint/adapter-checkpoint.ts'
import {
  type CheckpointManifest,
  checkReplaceable,
  type ElementType,
  EngineError,
  openCheckpoint,
  readPeftAdapter,
  saveCheckpoint,
} from '../checkpoint/index.ts'
import { inherited, isSameFolder } from './inherited.ts'

export interface MergeReport {
  manifest: CheckpointManifest
  /** Number of modified projections. */
  changed: number
  ranks: number[]
}

/**
 * Merges a PEFT adapter into a model's weights and writes the result as an ordinary model.
 *
 * @example
 * import { mergeLora } from 'chain-of-agents/engine'
 *
 * mergeLora('models/base', 'adapter', 'models/merged', { createdAt: new Date().toISOString() })
 */
export function mergeLora(
  base: string,
  adapter: string,
  out: string,
  options: { createdAt: string; elementType?: ElementType },
): MergeReport {
  checkReplaceable(resolve(out))
  const adapters = readPeftAdapter(adapter)
  const opened = openCheckpoint(base)
  const { shape, weights } = opened
  if (isSameFolder(base, out)) {
    throw new EngineError('a model cannot be merged onto itself', { fix: 'Name another folder.' })
  }
  addAdapters(weights, adapters, base)
  const manifest = saveCheckpoint(out, {
    shape,
    weights,
    ...inherited(opened),
    ...(options.elementType === undefined ? {} : { elementType: options.elementType }),
    createdAt: options.createdAt,
    metadata: { adapter: resolve(adapter) },
  })
  const ranks = [...new Set([...adapters.values()].map(({ down }) => down.shape[0]!))]
  return { manifest, changed: adapters.size, ranks }
}
