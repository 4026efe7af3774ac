import fc from 'fast-check'
import { expect, it } from 'vitest'
import { balanceBatches, planBatches } from './batches.ts'

const exampleOf = (length: number) => ({ tokens: new Int32Array(length), weights: new Float32Array(length) })

it('places every trainable example once, without overlaps', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 3000 }), { maxLength: 60 }),
      fc.integer({ min: 1, max: 10_000 }),
      (lengths, tokens) => {
        const batches = planBatches(lengths.map(exampleOf), tokens)
        const taken = batches.flatMap(({ placed }) => placed.map(({ member }) => member))
        expect(taken.sort((left, right) => left - right)).toEqual(
          [...lengths.keys()].filter((index) => lengths[index]! > 1),
        )
        for (const { rows, time, placed, packed } of batches) {
          expect(rows === 1 || rows * time <= tokens).toBe(true)
          const taken = placed.toSorted((left, right) => left.row - right.row || left.offset - right.offset)
          for (const [index, { member, row, offset }] of taken.entries()) {
            expect(row).toBeLessThan(rows)
            const end = offset + lengths[member]! - 1
            const next = taken[index + 1]
            expect(end).toBeLessThanOrEqual(next?.row === row ? next.offset : time)
          }
          expect(packed).toBe(placed.some(({ offset }) => offset > 0))
        }
      },
    ),
    { numRuns: 300 },
  )
})

it('wastes little padding and needs few shapes', () => {
  const lengths = Array.from({ length: 64 }, (_, index) => 60 + ((index * 37) % 100))
  const batches = planBatches(lengths.map(exampleOf), 1024)
  const used = lengths.reduce((sum, length) => sum + length - 1, 0)
  const computed = batches.reduce((sum, { rows, time }) => sum + rows * time, 0)
  expect(used / computed).toBeGreaterThan(0.8)
  expect(new Set(batches.map(({ rows, time }) => `${rows} ${time}`)).size).toBeLessThanOrEqual(3)
})

it('assigns every batch once and balances the work of all threads', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 2, max: 1500 }), { minLength: 1, maxLength: 60 }),
      fc.integer({ min: 1, max: 8 }),
      (lengths, threads) => {
        const batches = planBatches(lengths.map(exampleOf), 512)
        const assignments = balanceBatches(batches, threads)
        expect(assignments).toHaveLength(threads)
        expect(new Set(assignments.flat())).toEqual(new Set(batches))
        expect(assignments.flat()).toHaveLength(batches.length)
        const tokens = ({ rows, time }: (typeof batches)[number]): number => rows * time * (1024 + time)
        const loads = assignments.map((assigned) => assigned.reduce((sum, batch) => sum + tokens(batch), 0))
        expect(Math.max(...loads) - Math.min(...loads)).toBeLessThanOrEqual(Math.max(...batches.map(tokens)))
      },
    ),
    { numRuns: 200 },
  )
})
