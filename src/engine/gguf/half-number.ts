import { narrowToHalf, widenHalf } from '../checkpoint/half-floats.ts'

let singles: Float32Array | undefined

/** The F16 number at an offset. */
export function readHalf(bytes: Uint8Array, at: number): number {
  if (singles === undefined) {
    singles = new Float32Array(65_536)
    widenHalf(Uint16Array.from(singles.keys()), singles)
  }
  return singles[bytes[at]! | (bytes[at + 1]! << 8)]!
}

const wide = new Float32Array(1)
const narrow = new Uint16Array(1)

/** Writes a number as F16 and returns it as rounded. */
export function writeHalf(bytes: Uint8Array, at: number, value: number): number {
  wide[0] = value
  if (narrowToHalf(wide, narrow) !== -1) throw new RangeError(`${value} is too large for F16`)
  bytes[at] = narrow[0]! & 255
  bytes[at + 1] = narrow[0]! >>> 8
  return readHalf(bytes, at)
}
