import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  disjoint,
  dropAlwaysOrNever,
  dropSolvedWithoutTools,
  type PassRate,
  type Question,
  type Sifted,
} from './index.ts'

const rate = (correct: number, wrong: number): PassRate => ({ id: `${correct}:${wrong}`, correct, wrong })
const ids = (items: { id: string }[]): string[] => items.map(({ id }) => id)

it('drops what is solved without tools in more than three of ten tries', () => {
  const { kept, dropped } = dropSolvedWithoutTools([
    rate(3, 7),
    rate(4, 6),
    rate(0, 32),
    rate(10, 22),
    rate(0, 0),
  ])
  expect(ids(kept)).toEqual(['3:7', '0:32', '0:0'])
  expect(ids(dropped)).toEqual(['4:6', '10:22'])
  expect(dropped[0]?.reason).toBe('solved without tools in 4 of 10 tries')
  expect(ids(dropSolvedWithoutTools([rate(3, 7)], 0.2).dropped)).toEqual(['3:7'])
})

it('drops what is always or never solved, and what could not be judged', () => {
  const { kept, dropped } = dropAlwaysOrNever([rate(8, 0), rate(7, 1), rate(1, 7), rate(0, 8), rate(0, 0)])
  expect(ids(kept)).toEqual(['7:1', '1:7'])
  expect(dropped.map(({ reason }) => reason)).toEqual([
    'always solved, in 8 tries',
    'never solved, in 8 tries',
    'no try could be judged',
  ])
})

it('leaves no question on both sides', () => {
  const question: fc.Arbitrary<Question> = fc.record({
    id: fc.uuid(),
    question: fc.constantFrom('Who?', 'who', 'When was it?', 'WHEN was it', 'Why 3+4', 'Why 3-4'),
  })
  fc.assert(
    fc.property(fc.array(question), fc.array(question), (sft, rl) => {
      const { kept, dropped }: Sifted<Question> = disjoint(sft, rl)
      expect(kept.length + dropped.length).toBe(rl.length)
      const plain = (text: string): string => text.toLowerCase().replace('?', '')
      const trained = new Set(sft.map((item) => plain(item.question)))
      expect(kept.every((item) => !trained.has(plain(item.question)))).toBe(true)
      expect(dropped.every((item) => trained.has(plain(item.question)))).toBe(true)
    }),
    { numRuns: 10_000 },
  )
})
