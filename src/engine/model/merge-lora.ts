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
import { addChange } from './low-rank.ts'
import { readPeftAdapter } from './peft-adapter.ts'

export interface MergeReport {
  manifest: CheckpointManifest
  /** Projections that were changed. */
  changed: number
  ranks: number[]
}

/** Adds the low-rank changes of a PEFT adapter to a model's weights and writes the sum as a model like any other. */
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
  for (const [projection, { scale, down, up }] of adapters) {
    const weight = weights.get(`${projection}.weight`)
    const [to, from] = [up.shape[0], down.shape[1]]
    if (weight === undefined || String(weight.shape) !== String([to, from])) {
      throw new EngineError(
        weight === undefined
          ? `the adapter changes ${projection}, which ${base} does not have`
          : `the adapter changes ${projection} of [${to},${from}], and in ${base} it is [${weight.shape}]`,
        { fix: 'Give the model that the adapter was trained on.' },
      )
    }
    addChange(weight, down, up, scale)
  }
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
