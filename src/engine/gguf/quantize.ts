import { EngineError } from '../checkpoint/engine-error.ts'
import { narrowToBfloat16, narrowToHalf } from '../checkpoint/half-floats.ts'
import type { WritableType } from './tensor-types.ts'

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
    case 'Q8_0':
      return eightBits(values, name)
  }
}

/** Blocks of 32: an F16 scale, then each value divided by it and rounded half away from zero. */
function eightBits(values: Float32Array, name: string): Uint8Array {
  const bytes = new Uint8Array((values.length / 32) * 34)
  const scale = new Float32Array(1)
  const narrowed = new Uint16Array(1)
  for (let block = 0; block < values.length / 32; block++) {
    const from = block * 32
    let largest = 0
    for (let i = 0; i < 32; i++) largest = Math.max(largest, Math.abs(values[from + i]!))
    scale[0] = largest / 127
    if (narrowToHalf(scale, narrowed) !== -1) throw tooLarge(name, largest, 'Q8_0')
    // As in the reference: divides by the scale before it is rounded to F16, using a float32 reciprocal.
    const inverse = scale[0] === 0 ? 0 : Math.fround(1 / scale[0]!)
    const to = block * 34
    bytes[to] = narrowed[0]! & 255
    bytes[to + 1] = narrowed[0]! >>> 8
    for (let i = 0; i < 32; i++) {
      const level = Math.fround(values[from + i]! * inverse)
      bytes[to + 2 + i] = Math.sign(level) * Math.floor(Math.abs(level) + 0.5)
    }
  }
  return bytes
}

function tooLarge(name: string, value: number, type: WritableType): EngineError {
  return new EngineError(`${name} has the value ${value}, which is too large for ${type}`, {
    fix: `Write ${type === 'BF16' ? 'f32' : 'bf16 or f32'} instead.`,
    details: { tensor: name },
  })
}
