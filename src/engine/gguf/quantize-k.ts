import { writeHalf } from './half-number.ts'

/** Encodes 256 values from `from` as one block at `to`. */
export type WriteBlock = (values: Float32Array, from: number, bytes: Uint8Array, to: number) => void

/**
 * Q4_K: eight sub-blocks of 32 values; a value is scale · level − minimum, with 16 levels. Scales and minimums are six bits
 * each, relative to two F16 numbers per block.
 */
export const writeQ4K: WriteBlock = (values, from, bytes, to) => {
  const parts = Array.from({ length: 8 }, (_, part) => fitAffine(values, from + 32 * part))
  const [scales, minimums] = [parts.map(({ scale }) => scale), parts.map(({ minimum }) => minimum)]
  const [scaleUnit, minimumUnit] = [scales, minimums].map((numbers, index) =>
    writeHalf(bytes, to + 2 * index, Math.max(0, ...numbers) / 63),
  )
  const [scaleLevels, minimumLevels] = [sixBits(scales), sixBits(minimums)]
  for (let part = 0; part < 8; part++) {
    packSixBits(bytes, to + 4, part, scaleLevels[part]!, minimumLevels[part]!)
    const step = scaleUnit! * scaleLevels[part]!
    const offset = minimumUnit! * minimumLevels[part]!
    for (let i = 0; i < 32; i++) {
      const level = step === 0 ? 0 : clamp(nearest((values[from + 32 * part + i]! + offset) / step), 0, 15)
      bytes[to + 16 + 32 * (part >>> 1) + i]! |= level << (4 * (part & 1))
    }
  }
}

/** Q6_K: sixteen sub-blocks of 16 values with 64 levels; scales are signed bytes, relative to one F16 number per block. */
export const writeQ6K: WriteBlock = (values, from, bytes, to) => {
  const scales = Array.from({ length: 16 }, (_, part) => fitScale(values, from + 16 * part))
  const largest = scales.reduce((most, each) => (Math.abs(each) > Math.abs(most) ? each : most), 0)
  // All bits stay 0; with a scale of 0 that is a block of zeros.
  if (Math.abs(largest) < SMALLEST) return
  const unit = writeHalf(bytes, to + 208, -largest / 128)
  for (let part = 0; part < 16; part++) {
    const scale = Math.min(127, nearest((-128 / largest) * scales[part]!))
    bytes[to + 192 + part] = scale
    const step = unit * scale
    for (let i = 0; i < 16; i++) {
      const at = 16 * part + i
      const level = step === 0 ? 0 : clamp(nearest(values[from + at]! / step), -32, 31)
      putSixBits(bytes, to, at, level + 32)
    }
  }
}

/** Two halves of 128 values; in each, four rows of 32 share 64 bytes of lower and 32 bytes of upper bits. */
function putSixBits(bytes: Uint8Array, to: number, at: number, level: number): void {
  const [side, row, column] = [at >>> 7, (at >>> 5) & 3, at & 31]
  bytes[to + 64 * side + 32 * (row & 1) + column]! |= (level & 15) << (4 * (row >>> 1))
  bytes[to + 128 + 32 * side + column]! |= (level >>> 4) << (2 * row)
}

/** Below this, a group counts as zeros. */
const SMALLEST = 1e-15

const levels = new Uint8Array(32)

/**
 * Scale and minimum for which scale · level − minimum is closest to 32 values, each error weighted by the value's size: tries
 * several widths of a level, fits a line to the levels of each, and continues from the best line so far.
 */
function fitAffine(x: Float32Array, from: number): { scale: number; minimum: number } {
  let [lowest, highest, squared] = [Math.min(0, x[from]!), x[from]!, 0]
  for (let i = from; i < from + 32; i++) {
    lowest = Math.min(lowest, x[i]!)
    highest = Math.max(highest, x[i]!)
    squared += x[i]! * x[i]!
  }
  if (highest === lowest) return { scale: 0, minimum: -lowest }
  const size = Math.sqrt(squared / 32)
  let [scale, smallestError] = [(highest - lowest) / 15, Number.POSITIVE_INFINITY]
  for (let step = -1; step <= 20; step++) {
    // The first one is the range itself, without a fit.
    const inverse = (step === -1 ? 15 : 14 + 0.1 * step) / (highest - lowest)
    let [line, offset] = [scale, lowest]
    let [sum, sumOfLevels, squares, products, weights] = [0, 0, 0, 0, 0]
    for (let i = 0; i < 32; i++) {
      const value = x[from + i]!
      const level = Math.min(15, Math.max(0, nearest(inverse * (value - lowest))))
      const weight = size + Math.abs(value)
      levels[i] = level
      weights += weight
      sum += weight * value
      sumOfLevels += weight * level
      squares += weight * level * level
      products += weight * level * value
    }
    if (step >= 0) {
      const determinant = weights * squares - sumOfLevels * sumOfLevels
      if (determinant <= 0) continue
      line = (weights * products - sum * sumOfLevels) / determinant
      offset = (squares * sum - sumOfLevels * products) / determinant
      if (offset > 0) [line, offset] = [products / squares, 0]
    }
    let error = 0
    for (let i = 0; i < 32; i++) {
      const value = x[from + i]!
      const difference = line * levels[i]! + offset - value
      error += (size + Math.abs(value)) * difference * difference
    }
    if (error >= smallestError) continue
    ;[smallestError, scale, lowest] = [error, line, offset]
  }
  return { scale, minimum: -lowest }
}

/** Scale for which scale · level is closest to 16 values, with errors weighted by the values' squares. */
function fitScale(x: Float32Array, from: number): number {
  let largest = 0
  for (let i = from; i < from + 16; i++) if (Math.abs(x[i]!) > Math.abs(largest)) largest = x[i]!
  if (Math.abs(largest) < SMALLEST) return 0
  let [best, scale] = [-1, 0]
  for (const change of changes) {
    const inverse = -(32 + 0.1 * change) / largest
    let [products, squares] = [0, 0]
    for (let i = from; i < from + 16; i++) {
      const value = x[i]!
      const level = Math.min(31, Math.max(-32, nearest(inverse * value)))
      const square = value * value
      products += square * value * level
      squares += square * level * level
    }
    if (squares === 0 || products * products <= best * squares) continue
    scale = products / squares
    best = scale * products
  }
  return scale
}

/** No change first: it wins ties. */
const changes = [0, -9, -8, -7, -6, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6, 7, 8, 9]

/** Numbers as multiples of a 63rd of the largest; none is negative. */
function sixBits(numbers: readonly number[]): number[] {
  const largest = Math.max(0, ...numbers)
  return numbers.map((each) => (largest > 0 ? Math.min(63, nearest((63 / largest) * each)) : 0))
}

/** The first four pairs have their own bytes, whose upper bits hold the upper bits of the last four. */
function packSixBits(bytes: Uint8Array, at: number, part: number, scale: number, minimum: number): void {
  if (part < 4) {
    bytes[at + part]! |= scale
    bytes[at + 4 + part]! |= minimum
    return
  }
  bytes[at + 4 + part] = (scale & 15) | ((minimum & 15) << 4)
  bytes[at + part - 4]! |= (scale >>> 4) << 6
  bytes[at + part]! |= (minimum >>> 4) << 6
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value))
}

/** Halves are rounded to the even integer. */
function nearest(value: number): number {
  const rounded = Math.round(value)
  return rounded - value === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded
}
