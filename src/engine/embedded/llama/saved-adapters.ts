import { EngineError, type ModelShape, readPeftAdapter, type StoredTensors } from '../../checkpoint/index.ts'
import { adapterNames, freshAdapters, type LoraSettings } from './lora.ts'

/** Adapters from a PEFT folder in the form the engine trains: one per projection, all of the same rank and scale. */
export function savedAdapters(folder: string, shape: ModelShape, lora: LoraSettings): StoredTensors {
  const adapters: StoredTensors = new Map()
  for (const [projection, { scale, down, up }] of readPeftAdapter(folder)) {
    const { down: downName, up: upName } = adapterNames(projection)
    if (Math.abs(scale * lora.rank - lora.alpha) > 1e-6 * lora.alpha) throw mismatchedAdapter(folder, lora)
    adapters.set(downName, down).set(upName, up)
  }
  const wanted = freshAdapters(shape, lora)
  const fits = [...wanted].every(
    ([name, tensor]) => String(adapters.get(name)?.shape) === String(tensor.shape),
  )
  if (!fits || adapters.size !== wanted.size) throw mismatchedAdapter(folder, lora)
  return adapters
}

function mismatchedAdapter(folder: string, { rank, alpha }: LoraSettings): EngineError {
  return new EngineError(
    `the adapter in ${folder} does not cover all projections of the model with rank ${rank} and alpha ${alpha}, so it cannot be trained further here`,
    { fix: `Merge it first: \`coa model convert ${folder} OUT\`.` },
  )
}
