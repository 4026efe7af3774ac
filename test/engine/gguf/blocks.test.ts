import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dequantize } from '../../../src/engine/gguf/dequantize.ts'
import { quantize } from '../../../src/engine/gguf/quantize.ts'

interface Fixture {
  types: { type: string; values?: string; bytes: string; read: string }[]
}
const fixture = JSON.parse(readFileSync(new URL('./gguf.fixture.json', import.meta.url), 'utf8')) as Fixture
const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'base64'))
const singlesOf = (text: string): Float32Array => new Float32Array(bytesOf(text).buffer)

describe('compared with the Python package gguf', () => {
  it.each(fixture.types)('dequantizes $type to the same values', ({ type, bytes, read }) => {
    const wanted = singlesOf(read)
    expect(dequantize(bytesOf(bytes), type, wanted.length)).toEqual(wanted)
  })

  it('quantizes Q8_0 to the same bytes', () => {
    const { values, bytes } = fixture.types.find(({ type }) => type === 'Q8_0')!
    expect(quantize(singlesOf(values!), 'Q8_0', 'x')).toEqual(bytesOf(bytes))
  })
})

const number = fc.float({ noNaN: true, noDefaultInfinity: true, min: -1000, max: 1000 })
const blocks = fc
  .array(fc.array(number, { minLength: 32, maxLength: 32 }), { minLength: 1, maxLength: 3 })
  .map((rows) => Float32Array.from(rows.flat()))

/** Error bounds: relative to the value, relative to the largest in its block, and absolute. */
const bounds = {
  F32: [0, 0, 0],
  F16: [2 ** -11, 0, 2 ** -25],
  BF16: [2 ** -8, 0, 2 ** -134],
  // Half a step of 1/127 of the largest, and the rounding of the F16 scale, times 127 steps.
  Q8_0: [0, 0.5 / 127 + 2 ** -11, 127 * 2 ** -25],
} as const

describe('a round trip', () => {
  it.each(['F32', 'F16', 'BF16', 'Q8_0'] as const)('is close as %s', (type) => {
    const [relative, ofLargest, step] = bounds[type]
    fc.assert(
      fc.property(blocks, (values) => {
        const read = dequantize(quantize(values, type, 'x').slice(), type, values.length)
        const excess = values.map((value, index) => {
          const block = values.subarray(index - (index % 32), index - (index % 32) + 32)
          const largest = Math.max(...block.map(Math.abs))
          const bound = Math.abs(value) * relative + largest * ofLargest + step
          return Math.abs(read[index]! - value) - bound * (1 + 1e-6)
        })
        expect(Math.max(...excess)).toBeLessThanOrEqual(0)
      }),
      { numRuns: 2000 },
    )
  })

  it('rejects values that are too large', () => {
    const values = new Float32Array(32).fill(1e6)
    expect(() => quantize(values, 'F16', 'blk.0.ffn_up.weight')).toThrow(
      'blk.0.ffn_up.weight has the value 1000000, which is too large for F16',
    )
    expect(() => quantize(new Float32Array(32).fill(1e9), 'Q8_0', 'x')).toThrow('too large for Q8_0')
  })
})
