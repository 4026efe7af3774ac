import { describe, expect, it } from 'vitest'
import type { Example } from './examples.ts'
import { Plan, type PlanSettings } from './plan.ts'

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

const idsOf = (plan: Plan): string[][] =>
  Array.from({ length: plan.total }, (_, at) => plan.step(at + 1).examples.map(({ id }) => id))

describe('a plan', () => {
  it('goes through everything in each pass as often as it counts, in another order each time', () => {
    const plan = new Plan({ chains, react: [] }, settings)
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
    expect(idsOf(new Plan({ chains, react: [] }, { ...settings, seed: 2 }))).not.toEqual(steps)
  })

  it('is the same from any step on, and whatever order the sequences come in', () => {
    const [forward, backward] = [new Plan({ chains, react }, settings), new Plan({ chains, react }, settings)]
    const steps = idsOf(forward)
    for (let step = backward.total; step > 0; step--)
      expect(backward.step(step).examples.map(({ id }) => id)).toEqual(steps[step - 1])
    const turned = idsOf(new Plan({ chains: chains.toReversed(), react }, settings))
    expect(turned.map((step) => step.toSorted())).toEqual(steps.map((step) => step.toSorted()))
  })

  it('mixes ReAct-style sequences in at their share, again where there are few', () => {
    const mixed = idsOf(new Plan({ chains, react }, { ...settings, epochs: 1, react_share: 0.3 })).flat()
    expect(mixed.filter((id) => id.startsWith('react')).length).toBe(18)
    expect(mixed.length).toBe(60)
    const few = idsOf(new Plan({ chains, react }, { ...settings, epochs: 1, react_share: 0.04 })).flat()
    expect(few.filter((id) => id.startsWith('react')).length).toBe(2)
    expect(idsOf(new Plan({ chains, react }, { ...settings, epochs: 1 })).flat().length).toBe(42)
  })

  it('takes part of a pass, or a number of steps', () => {
    expect(new Plan({ chains, react: [] }, { ...settings, epochs: 0.5 }).total).toBe(6)
    const counted = new Plan({ chains, react: [] }, { ...settings, max_steps: 31 })
    expect(counted.total).toBe(31)
    expect(counted.step(31).examples.length).toBeGreaterThan(0)
  })

  it('leaves out what is longer than the context in force', () => {
    const contexts = [
      { from: 0, context: 20 },
      { from: 0.25, context: 30 },
      { from: 0.5, context: 100 },
    ]
    for (const each of [{ max_steps: 40 }, { epochs: 8 }]) {
      const plan = new Plan({ chains, react: [] }, { ...settings, ...each, contexts })
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
