import { describe, expect, it } from 'vitest'
import { ProjectConfig } from '../../pipeline/settings.ts'
import { isBetter } from './checkpoints.ts'
import { sftCurve } from './curve.ts'
import { heldOutTasks } from './gather.ts'
import { microBatches } from './optimizer-step.ts'
import { sftSettings } from './settings.ts'
import { learningRateFactor } from './training.ts'

describe('the learning rate', () => {
  it('has a linear warmup and a cosine decay', () => {
    const shape = { warmup: 0.2, final: 0.1 }
    const shares = Array.from({ length: 10 }, (_, at) => learningRateFactor(at + 1, 10, shape))
    expect(shares.slice(0, 2)).toEqual([0.5, 1])
    // Halfway down, and at the end.
    expect(shares[5]).toBeCloseTo(0.55, 12)
    expect(shares[9]).toBeCloseTo(0.1, 12)
    expect(shares.slice(1)).toEqual(shares.slice(1).toSorted((left, right) => right - left))
  })

  it('works without warmup and without decay', () => {
    expect(learningRateFactor(1, 1, { warmup: 0, final: 0.1 })).toBeCloseTo(0.1, 12)
    expect(learningRateFactor(1, 1, { warmup: 0.03, final: 0.1 })).toBe(1)
    expect(learningRateFactor(7, 7, { warmup: 1, final: 0.1 })).toBe(1)
    expect(learningRateFactor(5, 7, { warmup: 0, final: 1 })).toBe(1)
  })
})

describe('held-out tasks', () => {
  const tasks = Array.from({ length: 2000 }, (_, index) => `task ${index}`)

  it('are the share, and depend only on names and seed', () => {
    const held = heldOutTasks(tasks, 0.1, 1)
    expect(held.size).toBe(200)
    expect(heldOutTasks([...tasks, ...tasks].toReversed(), 0.1, 1)).toEqual(held)
    expect(heldOutTasks(tasks, 0.1, 2)).not.toEqual(held)
  })

  it('are at least eight, or none if eight would be more than a quarter', () => {
    const held = (count: number, share: number): number => heldOutTasks(tasks.slice(0, count), share, 1).size
    for (const seed of [1, 2, 3]) expect(heldOutTasks(tasks.slice(0, 108), 0.05, seed).size).toBe(8)
    expect([held(160, 0.05), held(161, 0.05), held(400, 0.05)]).toEqual([8, 9, 20])
    expect([held(31, 0.05), held(32, 0.05), held(2, 0.05), held(1, 0.05), held(0, 0.05)]).toEqual([
      0, 8, 0, 0, 0,
    ])
    // A larger share is honored, and training keeps at least one.
    expect([held(20, 0.5), held(20, 0.999), held(9, 0.9)]).toEqual([10, 19, 8])
    expect(held(2000, 0)).toBe(0)
  })
})

describe('the context schedule', () => {
  const read = (context: Record<string, number>): object[] =>
    sftSettings(ProjectConfig.parse({ sft: { context } }), 4096).contexts

  it('defaults to the context of the model', () => {
    expect(read({})).toEqual([{ from: 0, context: 4096 }])
    expect(read({ '0': 1024, '0.5': 2048 })).toEqual([
      { from: 0, context: 1024 },
      { from: 0.5, context: 2048 },
    ])
  })

  it.each([
    [{ many: 1024 }, 'must start at 0'],
    [{ '1': 1024 }, 'must start at 0'],
    [{ '0.5': 1024 }, 'must start at 0'],
    [{ '0': 1024, '0.5': 2048, '0.25': 4096 }, 'must start at 0, increase'],
    [{ '0': 1024, '1.5': 2048 }, 'below 1'],
    [{ '0': 5000 }, "5000 tokens exceed the model's context of 4096"],
    [{ '0': 1 }, 'Too small'],
    [{ '0': 'many' } as never, 'expected number'],
  ])('%j is refused', (context, message) => {
    expect(() => read(context)).toThrow(message)
  })
})

describe('the best checkpoint', () => {
  it('has the lowest loss, or the highest accuracy and among equals the lowest loss', () => {
    expect(isBetter({ evalLoss: 1 }, undefined, 'loss')).toBe(true)
    expect(isBetter({ evalLoss: 1 }, { evalLoss: 1 }, 'loss')).toBe(false)
    expect(isBetter({ evalLoss: 0.9, accuracy: 0.1 }, { evalLoss: 1, accuracy: 0.2 }, 'loss')).toBe(true)
    expect(isBetter({ evalLoss: 0.9, accuracy: 0.1 }, { evalLoss: 1, accuracy: 0.2 }, 'accuracy')).toBe(false)
    expect(isBetter({ evalLoss: 0.9, accuracy: 0.2 }, { evalLoss: 1, accuracy: 0.2 }, 'accuracy')).toBe(true)
    expect(isBetter({ evalLoss: 1.1, accuracy: 0.2 }, { evalLoss: 1, accuracy: 0.2 }, 'accuracy')).toBe(false)
    expect(isBetter({ accuracy: 0 }, undefined, 'accuracy')).toBe(true)
  })

  it('is never one that was not evaluated', () => {
    expect(isBetter({}, undefined, 'loss')).toBe(false)
    expect(isBetter({ evalLoss: 1 }, undefined, 'accuracy')).toBe(false)
    expect(isBetter({ accuracy: 1 }, undefined, 'loss')).toBe(false)
    expect(isBetter({ evalLoss: Number.NaN }, undefined, 'loss')).toBe(false)
  })
})

it('a curve drops rows that training went back before', () => {
  const rows = [1, 2, 3, 4, 3, 4, 5].map((step, index) => ({ t: index, stage: 'sft', step, loss: index }))
  const curve = sftCurve([...rows, { t: 9, stage: 'rl', step: 1, loss: 9 }])
  expect(curve.map(({ step, loss }) => [step, loss])).toEqual([
    [1, 0],
    [2, 1],
    [3, 4],
    [4, 5],
    [5, 6],
  ])
})

it('micro-batches have a maximum of tokens and at least one example, in order', () => {
  const examples = [50, 60, 200, 10, 20, 70, 1].map((length) => ({ tokens: new Int32Array(length) }))
  const sizes = [...microBatches(examples, 100)].map((batch) => batch.map(({ tokens }) => tokens.length))
  expect(sizes).toEqual([[50], [60], [200], [10, 20, 70], [1]])
  expect([...microBatches([], 100)]).toEqual([])
})
