import fc from 'fast-check'
import { expect, it } from 'vitest'
import { howMany } from '../../../test/how-many.ts'
import { extremes } from './metrics.ts'

it('keeps the first, the last, the least and the greatest value, in order, and few of the others', () => {
  const values = fc.array(fc.option(fc.double({ noNaN: true, min: -1e6, max: 1e6 }), { freq: 20 }), {
    maxLength: 500,
  })
  fc.assert(
    fc.property(values, fc.integer({ min: 10, max: 200 }), (all, points) => {
      const places = extremes(all, points)
      expect(places).toEqual([...new Set(places)].sort((one, other) => one - other))
      expect(places.every((at) => at >= 0 && at < all.length)).toBe(true)
      if (all.length <= points) {
        expect(places).toHaveLength(all.length)
        return
      }
      expect(places.length).toBeLessThanOrEqual((points * 5) / 4 + 5)
      expect([places[0], places.at(-1)]).toEqual([0, all.length - 1])
      const known = all.flatMap((value) => (value === null ? [] : [value]))
      const kept = places.flatMap((at) => all[at] ?? [])
      if (known.length > 0)
        expect([Math.min(...kept), Math.max(...kept)]).toEqual([Math.min(...known), Math.max(...known)])
      // That a value was lost stays visible.
      expect(places.some((at) => all[at] === null)).toBe(all.includes(null))
    }),
    { numRuns: howMany(10_000) },
  )
})
