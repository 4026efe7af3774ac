import type { StoredTensor } from './stored-tensor.ts'

/** Adds scale · up·down to a weight, in place; the product is computed in double precision, one row at a time. */
export function addLowRank(weight: StoredTensor, down: StoredTensor, up: StoredTensor, scale: number): void {
  const [rank, width] = down.shape as [number, number]
  const change = new Float64Array(width)
  for (let row = 0; row < up.shape[0]!; row++) {
    change.fill(0)
    for (let inner = 0; inner < rank; inner++) {
      const factor = up.values[row * rank + inner]!
      for (let column = 0; column < width; column++)
        change[column]! += factor * down.values[inner * width + column]!
    }
    for (let column = 0; column < width; column++)
      weight.values[row * width + column]! += scale * change[column]!
  }
}
