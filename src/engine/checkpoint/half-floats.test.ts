import fc from 'fast-check'
import { expect, test } from 'vitest'
import { narrowToBfloat16, narrowToHalf, widenBfloat16, widenHalf } from './half-floats.ts'

const everyPattern = Uint16Array.from({ length: 65_536 }, (_, bits) => bits)

/** The value of a 16-bit pattern, directly from the definition of the format. */
function numberOf(bits: number, exponentBits: number): number {
  const fractionBits = 15 - exponentBits
  const bias = 2 ** (exponentBits - 1) - 1
  const exponent = (bits >>> fractionBits) & (2 ** exponentBits - 1)
  const fraction = (bits & (2 ** fractionBits - 1)) / 2 ** fractionBits
  const sign = bits >= 0x8000 ? -1 : 1
  if (exponent === 2 ** exponentBits - 1) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN
  return sign * (exponent === 0 ? fraction * 2 ** (1 - bias) : (1 + fraction) * 2 ** (exponent - bias))
}

/** Rounds by searching all patterns for the nearest: slow, but independent of the code under test. */
function nearestPattern(value: number, exponentBits: number): number {
  const infinity = (2 ** exponentBits - 1) << (15 - exponentBits)
  const size = Math.abs(value)
  let low = 0
  let high = infinity
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (numberOf(middle, exponentBits) <= size) low = middle
    else high = middle - 1
  }
  const below = numberOf(low, exponentBits)
  // Past the largest finite value, rounding uses the next step as if the range continued.
  const above =
    low + 1 === infinity ? below + (below - numberOf(low - 1, exponentBits)) : numberOf(low + 1, exponentBits)
  const up = size - below > above - size || (size - below === above - size && low % 2 === 1)
  return (low === infinity ? low : low + (up ? 1 : 0)) | (value < 0 || Object.is(value, -0) ? 0x8000 : 0)
}

const formats = [
  { name: 'F16', exponentBits: 5, widen: widenHalf, narrow: narrowToHalf },
  { name: 'BF16', exponentBits: 8, widen: widenBfloat16, narrow: narrowToBfloat16 },
]

function narrowOne(narrow: typeof narrowToHalf, value: number): { bits: number; overflow: number } {
  const target = new Uint16Array(1)
  const overflow = narrow(Float32Array.of(value), target)
  return { bits: target[0]!, overflow }
}

const singles = fc.integer({ min: 0, max: 2 ** 32 - 1 }).map((bits) => {
  const view = new DataView(new ArrayBuffer(4))
  view.setUint32(0, bits)
  return view.getFloat32(0)
})

test.each(formats)('$name: every pattern is widened to its value and narrowed back', (format) => {
  const wide = new Float32Array(65_536)
  format.widen(everyPattern, wide)
  const wanted = Float32Array.from(everyPattern, (bits) => numberOf(bits, format.exponentBits))
  expect(wide.findIndex((value, bits) => !Object.is(value, wanted[bits]))).toBe(-1)
  const back = new Uint16Array(65_536)
  expect(format.narrow(wide, back)).toBe(-1)
  const wrong = everyPattern.filter((bits) =>
    Number.isNaN(wide[bits]!)
      ? !Number.isNaN(numberOf(back[bits]!, format.exponentBits))
      : back[bits] !== bits,
  )
  expect(wrong.length).toBe(0)
})

test.each(formats)('$name: rounds to nearest, ties to even', (format) => {
  const nearTie = fc
    .tuple(fc.integer({ min: 0, max: 65_534 }), fc.constantFrom(-1, 0, 1))
    .map(([bits, nudge]) => {
      const middle = (numberOf(bits, format.exponentBits) + numberOf(bits + 1, format.exponentBits)) / 2
      return Math.fround(middle * (1 + nudge * 2 ** -23))
    })
  fc.assert(
    fc.property(fc.oneof(singles, nearTie, fc.float({ min: -70_000, max: 70_000 })), (value) => {
      const { bits, overflow } = narrowOne(format.narrow, value)
      if (Number.isNaN(value)) {
        expect(numberOf(bits, format.exponentBits)).toBeNaN()
        return
      }
      const wanted = nearestPattern(value, format.exponentBits)
      expect(bits).toBe(wanted)
      const becameInfinite = !Number.isFinite(numberOf(wanted, format.exponentBits)) && Number.isFinite(value)
      expect(overflow).toBe(becameInfinite ? 0 : -1)
    }),
    { numRuns: 5000 },
  )
})

test('F16 matches Math.f16round, if available', () => {
  const round = (Math as { f16round?: (value: number) => number }).f16round
  if (round === undefined) return
  fc.assert(
    fc.property(singles, (value) => {
      expect(numberOf(narrowOne(narrowToHalf, value).bits, 5)).toBe(round(value))
    }),
    { numRuns: 5000 },
  )
})

test.each(formats)('$name: a NaN stays NaN, whichever bits are set', (format) => {
  const bits = Uint32Array.of(0x7f800001, 0xff800001, 0x7fc00000, 0x7f801000, 0x7fffffff)
  const narrow = new Uint16Array(bits.length)
  expect(format.narrow(new Float32Array(bits.buffer), narrow)).toBe(-1)
  expect([...narrow].map((pattern) => numberOf(pattern, format.exponentBits))).toEqual(
    Array(5).fill(Number.NaN),
  )
})

test('known patterns', () => {
  expect(narrowOne(narrowToHalf, 65_504)).toEqual({ bits: 0x7bff, overflow: -1 })
  expect(narrowOne(narrowToHalf, 65_519.99)).toEqual({ bits: 0x7bff, overflow: -1 })
  expect(narrowOne(narrowToHalf, 65_520)).toEqual({ bits: 0x7c00, overflow: 0 })
  expect(narrowOne(narrowToHalf, 2 ** -25)).toEqual({ bits: 0, overflow: -1 })
  expect(narrowOne(narrowToHalf, -(2 ** -24))).toEqual({ bits: 0x8001, overflow: -1 })
  expect(narrowOne(narrowToBfloat16, 1.00390625)).toEqual({ bits: 0x3f80, overflow: -1 })
  expect(narrowOne(narrowToBfloat16, 1.01171875)).toEqual({ bits: 0x3f82, overflow: -1 })
  expect(narrowOne(narrowToBfloat16, 3.4e38)).toEqual({ bits: 0x7f80, overflow: 0 })
})
