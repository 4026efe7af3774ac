import { widenBfloat16, widenHalf } from '../checkpoint/half-floats.ts'
import { readHalf } from './half-number.ts'
import { kQuants, type ReadBlock } from './k-quants.ts'
import { tensorTypeByName } from './tensor-types.ts'

/** Dequantizes a tensor; every product is rounded to float32. `bytes` must start its buffer. */
export function dequantize(bytes: Uint8Array, type: string, count: number): Float32Array {
  const values = new Float32Array(count)
  if (type === 'F32') new Uint8Array(values.buffer).set(bytes)
  else if (type === 'F16') widenHalf(new Uint16Array(bytes.buffer, 0, count), values)
  else if (type === 'BF16') widenBfloat16(new Uint16Array(bytes.buffer, 0, count), values)
  else {
    const { valuesInBlock, bytesInBlock } = tensorTypeByName(type)
    const read = readers[type]!
    for (let block = 0; block < count / valuesInBlock; block++) {
      read(bytes, block * bytesInBlock, values, block * valuesInBlock)
    }
  }
  return values
}

/**
 * Four bits of each of 32 values: a byte has value i in its lower half and value i + 16 in its upper half. A fifth bit, if
 * any, is in four separate bytes, one bit per value.
 */
function fourBits(bytes: Uint8Array, at: number, index: number): number {
  return index < 16 ? bytes[at + index]! & 15 : bytes[at + index - 16]! >>> 4
}

function fifthBit(bytes: Uint8Array, at: number, index: number): number {
  return ((bytes[at + (index >>> 3)]! >>> (index & 7)) & 1) << 4
}

const { fround } = Math

const readers: Record<string, ReadBlock> = {
  Q8_0: (bytes, at, values, to) => {
    const scale = readHalf(bytes, at)
    for (let i = 0; i < 32; i++) values[to + i] = scale * ((bytes[at + 2 + i]! << 24) >> 24)
  },
  Q4_0: (bytes, at, values, to) => {
    const scale = readHalf(bytes, at)
    for (let i = 0; i < 32; i++) values[to + i] = scale * (fourBits(bytes, at + 2, i) - 8)
  },
  Q4_1: (bytes, at, values, to) => {
    const [scale, minimum] = [readHalf(bytes, at), readHalf(bytes, at + 2)]
    for (let i = 0; i < 32; i++) values[to + i] = fround(scale * fourBits(bytes, at + 4, i)) + minimum
  },
  Q5_0: (bytes, at, values, to) => {
    const scale = readHalf(bytes, at)
    for (let i = 0; i < 32; i++) {
      values[to + i] = scale * ((fourBits(bytes, at + 6, i) | fifthBit(bytes, at + 2, i)) - 16)
    }
  },
  Q5_1: (bytes, at, values, to) => {
    const [scale, minimum] = [readHalf(bytes, at), readHalf(bytes, at + 2)]
    for (let i = 0; i < 32; i++) {
      const level = fourBits(bytes, at + 8, i) | fifthBit(bytes, at + 4, i)
      values[to + i] = fround(scale * level) + minimum
    }
  },
  ...kQuants(readHalf),
}
