import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BatchItem, BatchPlanner, type PlanSettings, planBatches } from './batch-planner.ts'
import type { Example } from './gather.ts'

const settings: PlanSettings = {
  seed: 1,
  epochs: 2,
  max_steps: 0,
  batch_tokens: 100,
  react_share: 0,
  contexts: [{ from: 0, context: 1000 }],
}

const example = (id: string, tokens: number, times = 1): Example => ({
  id,
  taskId: id,
  tokens: new Int32Array(tokens),
  learned: new Uint8Array(tokens),
  learnedTokens: 0,
  times,
})

const chains = Array.from({ length: 40 }, (_, index) =>
  example(`chain ${index}`, 10 + index, index === 7 ? 3 : 1),
)
const react = Array.from({ length: 6 }, (_, index) => example(`react ${index}`, 20))

const idsOf = (plan: BatchPlanner): string[][] =>
  Array.from({ length: plan.total }, (_, at) => plan.step(at + 1).examples.map(({ id }) => id))

describe('BatchPlanner', () => {
  it('uses every sequence as often as its weight in each epoch, in a different order each time', () => {
    const plan = new BatchPlanner({ chains, react: [] }, settings)
    const steps = idsOf(plan)
    const half = steps.length / 2
    // 40 sequences of 10 to 49 tokens and two more of 17.
    expect(half).toBe(Math.round((40 * 29.5 + 2 * 17) / 100))
    for (const pass of [steps.slice(0, half), steps.slice(half)]) {
      const counts = Map.groupBy(pass.flat(), (id) => id)
      expect([...counts].map(([id, all]) => [id, all.length]).sort()).toEqual(
        chains.map(({ id, times }) => [id, times]).sort(),
      )
    }
    expect(steps.slice(0, half)).not.toEqual(steps.slice(half))
    expect(idsOf(new BatchPlanner({ chains, react: [] }, { ...settings, seed: 2 }))).not.toEqual(steps)
  })

  it('is the same from any step on, in any order of the sequences', () => {
    const [forward, backward] = [
      new BatchPlanner({ chains, react }, settings),
      new BatchPlanner({ chains, react }, settings),
    ]
    const steps = idsOf(forward)
    for (let step = backward.total; step > 0; step--)
      expect(backward.step(step).examples.map(({ id }) => id)).toEqual(steps[step - 1])
    const turned = idsOf(new BatchPlanner({ chains: chains.toReversed(), react }, settings))
    expect(turned.map((step) => step.toSorted())).toEqual(steps.map((step) => step.toSorted()))
  })

  it('mixes in ReAct-style sequences at their share, repeating them if there are few', () => {
    const mixed = idsOf(
      new BatchPlanner({ chains, react }, { ...settings, epochs: 1, react_share: 0.3 }),
    ).flat()
    expect(mixed.filter((id) => id.startsWith('react')).length).toBe(18)
    expect(mixed.length).toBe(60)
    const few = idsOf(
      new BatchPlanner({ chains, react }, { ...settings, epochs: 1, react_share: 0.04 }),
    ).flat()
    expect(few.filter((id) => id.startsWith('react')).length).toBe(2)
    expect(idsOf(new BatchPlanner({ chains, react }, { ...settings, epochs: 1 })).flat().length).toBe(42)
  })

  it('supports fractional epochs or a number of steps', () => {
    expect(new BatchPlanner({ chains, react: [] }, { ...settings, epochs: 0.5 }).total).toBe(6)
    const counted = new BatchPlanner({ chains, react: [] }, { ...settings, max_steps: 31 })
    expect(counted.total).toBe(31)
    expect(counted.step(31).examples.length).toBeGreaterThan(0)
  })

  it('leaves out what exceeds the current context', () => {
    const contexts = [
      { from: 0, context: 20 },
      { from: 0.25, context: 30 },
      { from: 0.5, context: 100 },
    ]
    for (const each of [{ max_steps: 40 }, { epochs: 8 }]) {
      const plan = new BatchPlanner({ chains, react: [] }, { ...settings, ...each, contexts })
      const longest = new Map<number, number>()
      for (let step = 1; step <= plan.total; step++) {
        const { examples, context } = plan.step(step)
        const most = Math.max(...examples.map(({ tokens }) => tokens.length))
        longest.set(context, Math.max(longest.get(context) ?? 0, most))
      }
      expect([...longest]).toEqual([
        [20, 20],
        [30, 30],
        [100, 49],
      ])
      if ('max_steps' in each) {
        const inForce = Array.from({ length: 40 }, (_, at) => plan.step(at + 1).context)
        expect(inForce).toEqual([...Array(10).fill(20), ...Array(10).fill(30), ...Array(20).fill(100)])
      }
    }
  })
})

const lengths = fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 80 })

it('assigns everything to exactly one batch, and no two batches differ by more than the longest item', () => {
  fc.assert(
    fc.property(lengths, fc.double({ min: 0, max: 1, noNaN: true }), (tokens, share) => {
      const items = tokens.map((each, index): BatchItem => ({ index, tokens: each, at: (index * 0.618) % 1 }))
      const count = 1 + Math.floor(share * (items.length - 1))
      const steps = planBatches(items, count)
      expect(steps.length).toBe(count)
      expect(steps.flat().sort((left, right) => left - right)).toEqual(items.map(({ index }) => index))
      const sizes = steps.map((step) => step.reduce((sum, index) => sum + tokens[index]!, 0))
      expect(Math.min(...sizes)).toBeGreaterThan(0)
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(Math.max(...tokens))
    }),
    { numRuns: 10_000 },
  )
})

it('combines items of similar length at random', () => {
  const items = [0.3, 0.1, 0.2, 0.9, 0.8, 0.7].map((at, index) => ({ index, tokens: index < 3 ? 9 : 5, at }))
  expect(planBatches(items, 3)).toEqual([
    [1, 5],
    [2, 4],
    [0, 3],
  ])
})
