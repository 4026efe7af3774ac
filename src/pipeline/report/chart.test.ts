import fc from 'fast-check'
import { expect, test } from 'vitest'
import { drawChart, niceTicks } from './chart.ts'

test('ticks cover their range in even round steps', () => {
  const value = fc.double({ min: -1e6, max: 1e6, noNaN: true })
  fc.assert(
    fc.property(value, fc.double({ min: 1e-6, max: 1e6, noNaN: true }), (low, span) => {
      const ticks = niceTicks(low, low + span, 4)
      const step = ticks[1]! - ticks[0]!
      const tolerance = 1e-6 * Math.max(step, Math.abs(low) * 1e-3)
      expect(ticks.length).toBeLessThan(8)
      expect(ticks[0]!).toBeLessThanOrEqual(low + tolerance)
      expect(ticks.at(-1)!).toBeGreaterThanOrEqual(low + span - tolerance)
    }),
    { numRuns: 10_000 },
  )
})

test('every coordinate in a chart is a number, for any values', () => {
  const point = fc.record({ step: fc.integer({ min: 0, max: 5000 }), value: fc.double() })
  fc.assert(
    fc.property(fc.array(point, { maxLength: 30 }), fc.boolean(), (points, isShare) => {
      const ordered = points.toSorted((one, other) => one.step - other.step)
      const drawn = drawChart({ title: 't', series: [{ name: 's', points: ordered }], isShare })
      expect(drawn === undefined).toBe(!points.some(({ value }) => Math.abs(value) <= 1e15))
      expect(drawn?.text ?? '').not.toMatch(/NaN|Infinity/)
    }),
    { numRuns: 2000 },
  )
})

test('hovering shows the values of a step, of all series', () => {
  const drawn = drawChart({
    title: 'Loss',
    series: [
      { name: 'training', points: [{ step: 1, value: 3 }, { step: 2, value: 2.5 }] }, // biome-ignore format: one line each
      { name: 'held out', points: [{ step: 2, value: 2.75 }] },
    ],
  })!
  expect(drawn.text).toContain('<title>step 2\ntraining 2.5\nheld out 2.75</title>')
  expect(drawn.text).toContain('aria-label="Loss: training 3 → 2.5; held out 2.75"')
})

test('values that cannot be plotted are reported', () => {
  const points = [1, Number.NaN, Number.POSITIVE_INFINITY, 2].map((value, step) => ({ step, value }))
  const drawn = drawChart({ title: 't', series: [{ name: 's', points }] })!
  expect(drawn.text).toContain('2 values, the first at step 1')
})

test('many steps share hover strips', () => {
  const points = Array.from({ length: 1000 }, (_, at) => ({ step: at + 1, value: at }))
  const drawn = drawChart({ title: 't', series: [{ name: 's', points }] })!
  expect(drawn.text.match(/class="strip"/g)).toHaveLength(100)
  expect(drawn.text.match(/class="mark"/g)).toHaveLength(1)
})
