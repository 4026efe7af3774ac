import { EngineError } from '../checkpoint/engine-error.ts'
import { narrowToBrainFloat, narrowToHalf } from '../checkpoint/half-floats.ts'
import type { WritableType } from './tensor-types.ts'

/** Values in the bytes of a type. The number of values is a multiple of the type's block. */
export function quantize(values: Float32Array, type: WritableType, name: string): Uint8Array {
  switch (type) {
    case 'F32':
      return new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
    case 'F16':
    case 'BF16': {
      const narrowed = new Uint16Array(values.length)
      const overflow = (type === 'F16' ? narrowToHalf : narrowToBrainFloat)(values, narrowed)
      if (overflow !== -1) throw tooLarge(name, values[overflow]!, type)
      return new Uint8Array(narrowed.buffer)
    }
    case 'Q8_0':
      return eightBits(values, name)
  }
}

/** Blocks of 32: a scale in F16, then each value divided by the scale and rounded, halves away from zero. */
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
    // As the reference does: by the scale before it is narrowed, and by its reciprocal in float32.
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
