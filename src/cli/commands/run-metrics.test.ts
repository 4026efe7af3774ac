import { expect, it } from 'vitest'
import { lastOfEachStep, rowsWith } from './run-metrics.ts'

const row = (stage: string, step: number, loss: number) => ({ stage, step, loss })
const losses = (rows: ReturnType<typeof row>[], stage: string): unknown[] =>
  lastOfEachStep(rows).flatMap((each) => (each['stage'] === stage ? [each['loss']] : []))

it('shows steps that were done again as they were done last', () => {
  const rows = [row('sft', 1, 5), row('sft', 2, 4), row('sft', 2, 4.5), row('sft', 3, 3)]
  expect(losses(rows, 'sft')).toEqual([5, 4.5, 3])
})

it('drops the metrics of an earlier training once another has started, but not those of other stages', () => {
  const rows = [
    ...[1, 2, 3].map((step) => row('sft', step, step)),
    ...[1, 2].map((step) => row('rl', step, 10 * step)),
    ...[1, 2].map((step) => row('sft', step, 100 * step)),
  ]
  expect(losses(rows, 'sft')).toEqual([100, 200])
  expect(losses(rows, 'rl')).toEqual([10, 20])
})

it('shows chosen metrics of the rows that have all of them', () => {
  const rows = [
    { stage: 'rl', step: 1, minutes: 0.5 },
    { stage: 'rl', step: 2, minutes: 1, eval_accuracy: 0.4 },
  ]
  expect(rowsWith(rows, ['step', 'minutes', 'eval_accuracy'])).toEqual([
    { step: 2, minutes: 1, eval_accuracy: 0.4 },
  ])
  expect(rowsWith(rows, ['step'])).toEqual([{ step: 1 }, { step: 2 }])
})
