import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dequantize } from '../../../src/engine/gguf/dequantize.ts'
import { quantize } from '../../../src/engine/gguf/quantize.ts'

interface Fixture {
  types: { type: string; values?: string; bytes: string; read: string }[]
}
const read = (name: string): Fixture =>
  JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8')) as Fixture
const fixture = read('./gguf.fixture.json')
const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'base64'))
const singlesOf = (text: string): Float32Array => new Float32Array(bytesOf(text).buffer)

describe('compared with the Python package gguf', () => {
  it.each(fixture.types)('dequantizes $type to the same values', ({ type, bytes, read }) => {
    const wanted = singlesOf(read)
    expect(dequantize(bytesOf(bytes), type, wanted.length)).toEqual(wanted)
  })

  it.each(['Q8_0', 'Q5_0'] as const)('quantizes %s to the same bytes', (name) => {
    const { values, bytes } = fixture.types.find(({ type }) => type === name)!
    expect(quantize(singlesOf(values!), name, 'x')).toEqual(bytesOf(bytes))
  })
})

/** Sums are rounded differently there, so a few scales and levels differ, but not the error. */
describe("compared with llama.cpp's quantizer", () => {
  it.each(read('./k-quants.fixture.json').types)(
    'quantizes $type as precisely',
    ({ type, values, bytes }) => {
      const wanted = singlesOf(values!)
      const theirs = dequantize(bytesOf(bytes), type, wanted.length)
      const mine = dequantize(quantize(wanted, type as 'Q4_K', 'x').slice(), type, wanted.length)
      const error = (found: Float32Array): number =>
        Math.sqrt(found.reduce((sum, value, index) => sum + (value - wanted[index]!) ** 2, 0))
      expect(error(mine) / error(theirs)).toBeCloseTo(1, 3)
      const same = mine.filter((value, index) => value === theirs[index]).length / mine.length
      expect(same).toBeGreaterThan(0.95)
    },
  )
})

const number = fc.float({ noNaN: true, noDefaultInfinity: true, min: -1000, max: 1000 })
const blocksOf = (size: number) =>
  fc
    .array(fc.array(number, { minLength: size, maxLength: size }), { minLength: 1, maxLength: 3 })
    .map((rows) => Float32Array.from(rows.flat()))

/** Error bounds: relative to the value, relative to the largest in its block, and absolute. */
const bounds = {
  F32: [0, 0, 0],
  F16: [2 ** -11, 0, 2 ** -25],
  BF16: [2 ** -8, 0, 2 ** -134],
  // Half a step of 1/127 of the largest, and the rounding of the F16 scale, times 127 steps.
  Q8_0: [0, 0.5 / 127 + 2 ** -11, 127 * 2 ** -25],
  // The level opposite to the largest value is missing: a step of a sixteenth.
  Q5_0: [0, 1 / 16 + 2 ** -11, 16 * 2 ** -25],
  // Up to half a level, of which there are 15 between the extremes of 32 values, and six-bit scales and minimums.
  Q4_K: [0, 1 / 6, 1e-4],
  // Up to half a level, or a level at the end without a counterpart, of 32 on each side of zero; eight-bit scales.
  Q6_K: [0, 1 / 20, 1e-4],
} as const

describe('a round trip', () => {
  it.each(Object.keys(bounds) as (keyof typeof bounds)[])('is close as %s', (type) => {
    const [relative, ofLargest, step] = bounds[type]
    const size = type.endsWith('K') ? 256 : 32
    fc.assert(
      fc.property(blocksOf(size), (values) => {
        const read = dequantize(quantize(values, type, 'x').slice(), type, values.length)
        const excess = values.map((value, index) => {
          const block = values.subarray(index - (index % size), index - (index % size) + size)
          const largest = Math.max(...block.map(Math.abs))
          const bound = Math.abs(value) * relative + largest * ofLargest + step
          return Math.abs(read[index]! - value) - bound * (1 + 1e-6)
        })
        expect(Math.max(...excess)).toBeLessThanOrEqual(0)
      }),
      { numRuns: size === 32 ? 2000 : 200 },
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
