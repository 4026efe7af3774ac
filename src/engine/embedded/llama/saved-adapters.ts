import {
  EngineError,
  type ModelShape,
  readPeftAdapter,
  type StoredTensor,
  type StoredTensors,
} from '../../checkpoint/index.ts'
import { adapterNames, freshAdapters, type LoraSettings } from './lora.ts'

/**
 * Adapters from a PEFT folder in the form the engine trains: one for every projection, all of the same rank and scale. A projection
 * without one gets a new adapter, which changes nothing; another scale is multiplied into B, and a lower rank is filled up, with zeros in B.
 */
export function savedAdapters(folder: string, shape: ModelShape, lora: LoraSettings): StoredTensors {
  const adapters = freshAdapters(shape, lora)
  for (const [projection, { scale, down, up }] of readPeftAdapter(folder)) {
    const names = adapterNames(projection)
    const [newDown, newUp] = [adapters.get(names.down), adapters.get(names.up)]
    const rank = down.shape[0]!
    const fits = newDown?.shape[1] === down.shape[1] && newUp?.shape[0] === up.shape[0] && rank <= lora.rank
    if (newDown === undefined || newUp === undefined || !fits) throw mismatched(folder, projection, lora)
    newDown.values.set(down.values)
    // Exactly 1 in what coa saved, so that training resumes bit for bit.
    spread(up, newUp, (scale * lora.rank) / lora.alpha)
  }
  return adapters
}

/** Copies a matrix of fewer columns into a zero matrix. */
function spread(from: StoredTensor, to: StoredTensor, factor: number): void {
  const [rows, columns] = from.shape as [number, number]
  const wide = to.shape[1]!
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++)
      to.values[row * wide + column] = from.values[row * columns + column]! * factor
}

function mismatched(folder: string, projection: string, { rank }: LoraSettings): EngineError {
  return new EngineError(
    `the adapter in ${folder} does not fit: ${projection} is unknown, of another shape, or of a rank above ${rank}`,
    { fix: `Merge it first: \`coa model convert ${folder} OUT\`.` },
  )
}
