import fc from 'fast-check'
import { expect, it } from 'vitest'
import { planBatches } from './batches.ts'

const exampleOf = (length: number) => ({ tokens: new Int32Array(length), weights: new Float32Array(length) })

it('takes every example that teaches something once, into a row that holds it', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 3000 }), { maxLength: 60 }),
      fc.integer({ min: 1, max: 10_000 }),
      (lengths, tokens) => {
        const batches = planBatches(lengths.map(exampleOf), tokens)
        const taken = batches.flatMap(({ members }) => members).sort((left, right) => left - right)
        expect(taken).toEqual([...lengths.keys()].filter((index) => lengths[index]! > 1))
        for (const { rows, time, members } of batches) {
          expect(members.length).toBeLessThanOrEqual(rows)
          expect(rows === 1 || rows * time <= tokens).toBe(true)
          for (const index of members) expect(lengths[index]! - 1).toBeLessThanOrEqual(time)
        }
      },
    ),
    { numRuns: 2_000 },
  )
})

it('fills up few rows and few places', () => {
  const lengths = Array.from({ length: 64 }, (_, index) => 60 + ((index * 37) % 100))
  const batches = planBatches(lengths.map(exampleOf), 4096)
  const used = lengths.reduce((sum, length) => sum + length - 1, 0)
  const computed = batches.reduce((sum, { rows, time }) => sum + rows * time, 0)
  expect(used / computed).toBeGreaterThan(0.7)
  expect(new Set(batches.map(({ rows, time }) => `${rows} ${time}`)).size).toBeLessThanOrEqual(3)
})
