/** Arrays of the same layout: entry i of each belongs to the same weight. */
export interface AdamArrays {
  weights: Float32Array
  gradients: Float32Array
  first: Float32Array
  second: Float32Array
}

/** Coefficients of an update, with gradient clipping and bias correction folded in. */
interface AdamNumbers {
  beta1: number
  rest1: number
  beta2: number
  rest2: number
  epsilon: number
  rate: number
  keep: number
}

export interface AdamRange {
  from: number
  to: number
  numbers: AdamNumbers
}

/** A plain loop: as graph operations, each of the dozen steps would be a separate pass over memory. */
export function updateRange(arrays: AdamArrays, from: number, to: number, numbers: AdamNumbers): void {
  const { weights, gradients, first, second } = arrays
  const { beta1, rest1, beta2, rest2, epsilon, rate, keep } = numbers
  for (let at = from; at < to; at++) {
    const gradient = gradients[at]!
    const mean = first[at]! * beta1 + gradient * rest1
    const square = second[at]! * beta2 + gradient * gradient * rest2
    first[at] = mean
    second[at] = square
    weights[at] = weights[at]! * keep - (rate * mean) / (Math.sqrt(square) + epsilon)
  }
}

/** Four independent sums, so that additions do not wait for each other. */
export function sumOfSquares(array: Float32Array, from: number, to: number): number {
  let [first, second, third, fourth] = [0, 0, 0, 0]
  const vectorEnd = to - ((to - from) % 4)
  for (let at = from; at < vectorEnd; at += 4) {
    first += array[at]! * array[at]!
    second += array[at + 1]! * array[at + 1]!
    third += array[at + 2]! * array[at + 2]!
    fourth += array[at + 3]! * array[at + 3]!
  }
  for (let at = vectorEnd; at < to; at++) first += array[at]! * array[at]!
  return first + second + third + fourth
}
