import { EngineError } from '../checkpoint/engine-error.ts'
import { narrowToBfloat16, narrowToHalf } from '../checkpoint/half-floats.ts'
import { writeHalf } from './half-number.ts'
import { type WriteBlock, writeQ4K, writeQ6K } from './quantize-k.ts'
import { tensorTypeByName, type WritableType } from './tensor-types.ts'

/** Encodes values as a type. Their number is a multiple of the type's block size. */
export function quantize(values: Float32Array, type: WritableType, name: string): Uint8Array {
  switch (type) {
    case 'F32':
      return new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
    case 'F16':
    case 'BF16': {
      const narrowed = new Uint16Array(values.length)
      const overflow = (type === 'F16' ? narrowToHalf : narrowToBfloat16)(values, narrowed)
      if (overflow !== -1) throw tooLarge(name, values[overflow]!, type)
      return new Uint8Array(narrowed.buffer)
    }
    default:
      return inBlocks(values, type, name)
  }
}

function inBlocks(values: Float32Array, type: keyof typeof writers, name: string): Uint8Array {
  const { valuesInBlock, bytesInBlock } = tensorTypeByName(type)
  const blocks = values.length / valuesInBlock
  const bytes = new Uint8Array(blocks * bytesInBlock)
  for (let block = 0; block < blocks; block++) {
    const from = block * valuesInBlock
    try {
      writers[type](values, from, bytes, block * bytesInBlock)
    } catch (cause) {
      if (!(cause instanceof RangeError)) throw cause
      throw tooLarge(name, largestOf(values, from, valuesInBlock), type)
    }
  }
  return bytes
}

/** The value farthest from zero, with its sign; the first of several. */
function largestOf(values: Float32Array, from: number, count: number): number {
  let largest = 0
  for (let i = from; i < from + count; i++) if (Math.abs(values[i]!) > Math.abs(largest)) largest = values[i]!
  return largest
}

/** Blocks of 32: an F16 scale, then each value divided by it and rounded half away from zero. */
const writeQ8: WriteBlock = (values, from, bytes, to) => {
  const scale = Math.fround(Math.abs(largestOf(values, from, 32)) / 127)
  writeHalf(bytes, to, scale)
  // As in the reference: divides by the scale before it is rounded to F16, using a float32 reciprocal.
  const inverse = scale === 0 ? 0 : Math.fround(1 / scale)
  for (let i = 0; i < 32; i++) {
    const level = Math.fround(values[from + i]! * inverse)
    bytes[to + 2 + i] = Math.sign(level) * Math.floor(Math.abs(level) + 0.5)
  }
}

/** Blocks of 32 with 32 levels, the lowest of which is the largest value: an F16 scale, the fifth bits, then four bits each. */
const writeQ5: WriteBlock = (values, from, bytes, to) => {
  const scale = Math.fround(largestOf(values, from, 32) / -16)
  writeHalf(bytes, to, scale)
  const inverse = scale === 0 ? 0 : Math.fround(1 / scale)
  for (let i = 0; i < 32; i++) {
    const level = Math.min(31, Math.trunc(Math.fround(Math.fround(values[from + i]! * inverse) + 16.5)))
    bytes[to + 2 + (i >>> 3)]! |= (level >>> 4) << (i & 7)
    bytes[to + 6 + (i & 15)]! |= (level & 15) << (i < 16 ? 0 : 4)
  }
}

const writers = { Q8_0: writeQ8, Q5_0: writeQ5, Q4_K: writeQ4K, Q6_K: writeQ6K }

function tooLarge(name: string, value: number, type: WritableType): EngineError {
  return new EngineError(`${name} has the value ${value}, which is too large for ${type}`, {
    fix: `Write ${type === 'BF16' ? 'f32' : 'bf16 or f32'} instead.`,
    details: { tensor: name },
  })
}
