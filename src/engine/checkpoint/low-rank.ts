import type { StoredTensor } from './stored-tensor.ts'

/** The matrix product up·down in double precision, one row at a time. */
export function eachRow(
  { shape: [rank, from], values: down }: StoredTensor,
  { shape: [to], values: up }: StoredTensor,
  use: (row: number, change: Float64Array) => void,
): void {
  const change = new Float64Array(from!)
  for (let row = 0; row < to!; row++) {
    change.fill(0)
    for (let inner = 0; inner < rank!; inner++) {
      const factor = up[row * rank! + inner]!
      for (let column = 0; column < from!; column++) change[column]! += factor * down[inner * from! + column]!
    }
    use(row, change)
  }
}

/** Adds scale · up·down to a weight, in place. */
export function addLowRank(weight: StoredTensor, down: StoredTensor, up: StoredTensor, scale: number): void {
  eachRow(down, up, (row, change) => {
    const start = row * change.length
    for (let column = 0; column < change.length; column++) {
      weight.values[start + column]! += scale * change[column]!
    }
  })
}
