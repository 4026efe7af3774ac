import { describe, expect, it, test } from 'vitest'
import { makeRollout } from '../../../test/rl/make-rollout.ts'
import type { Loss, TrainingExample } from '../../engine/index.ts'
import { ProjectConfig } from '../../pipeline/settings.ts'
import { rlSettings } from './config.ts'
import type { Group } from './contract.ts'
import { type Learner, learningRateAt, trainStep } from './train-step.ts'

/** Records requests; every token has the same log-probability. */
function notebook(logprob = -1) {
  const notes: { call: string; examples: TrainingExample[]; loss?: Loss; temperature?: number }[] = []
  const pass = (examples: readonly TrainingExample[]) => ({
    loss: 0,
    weight: 0,
    logprobs: examples.map(({ tokens }) => new Float32Array(tokens.length).fill(logprob).fill(0, 0, 1)),
  })
  const engine: Learner['engine'] = {
    forward: async (examples, _, temperature = 1) => {
      notes.push({ call: 'forward', examples: [...examples], temperature })
      return pass(examples)
    },
    forwardBackward: async (examples, loss) => {
      notes.push({ call: 'forwardBackward', examples: [...examples], loss, temperature: loss.temperature! })
      return pass(examples)
    },
    optimStep: async () => {
      notes.push({ call: 'optimStep', examples: [] })
      return { step: 1, gradientNorm: 2 }
    },
  }
  return { engine, notes, calls: () => notes.map(({ call }) => call) }
}

const settings = (rl: object = {}, rollout: object = {}) =>
  rlSettings(ProjectConfig.parse({ rl: { old_logprobs: 'sampler', ...rl }, rollout }))
const group = (id: string, ...rewards: number[]): Group => ({
  id,
  taskId: id,
  members: rewards.map((reward) => ({ rollout: makeRollout(), reward, isCorrect: reward > 0 })),
})
const groups = [group('a', 1, 0), group('b', 1, 0), group('c', 0, 1)]
const sum = (values: ArrayLike<number>): number =>
  Array.from(values).reduce((total, value) => total + value, 0)

describe('trainStep', () => {
  it('makes one update from all groups, normalized over all of them', async () => {
    const { engine, notes, calls } = notebook()
    const metrics = await trainStep({ engine }, groups, settings(), { learningRate: 1 })
    expect(calls()).toEqual(['forwardBackward', 'optimStep'])
    expect(notes[0]!.examples.reduce((total, { weights }) => total + sum(weights), 0)).toBeCloseTo(1, 6)
    expect(notes[0]!.loss).toMatchObject({ lowestRatio: 0.8, highestRatio: 1.28, dualClip: 10 })
    expect(notes[0]!.loss).not.toHaveProperty('importanceCap')
    expect(metrics).toMatchObject({ updates: 1, tokens: 12, gradientNorm: 2, kl: undefined })
    // The sampler reported −0.5 and −1.5.
    expect(metrics.mismatch).toEqual({ mean: 0.5, max: 0.5 })
  })

  it.each(['gspo', 'cispo'] as const)(
    'with %s weights tokens by the ratio before each update but the first',
    async (loss) => {
      const { engine, calls } = notebook()
      const options = { algorithm: loss, mini_batches: 3, old_logprobs: 'learner' }
      await trainStep({ engine }, groups, settings(options), { learningRate: 1 })
      const update = ['forward', 'forwardBackward', 'optimStep']
      // The first pass gives the old log-probabilities of the later updates.
      expect(calls()).toEqual(['forward', 'forwardBackward', 'optimStep', ...update, ...update])
    },
  )

  it('splits groups between updates, each normalized separately', async () => {
    const { engine, notes, calls } = notebook()
    const order: string[] = []
    await trainStep({ engine }, groups, settings({ mini_batches: 2 }), {
      learningRate: 1,
      onUpdate: (isLast) => order.push(`${calls().length} ${isLast}`),
    })
    expect(calls()).toEqual(['forwardBackward', 'optimStep', 'forwardBackward', 'optimStep'])
    const passes = notes.filter(({ call }) => call === 'forwardBackward')
    expect(passes.map(({ examples }) => examples.length)).toEqual([2, 4])
    for (const { examples } of passes)
      expect(examples.reduce((total, { weights }) => total + sum(weights), 0)).toBeCloseTo(1, 6)
    expect(order).toEqual(['1 false', '3 true'])
  })

  it("uses the learner's old log-probabilities if asked to, with importance weights", async () => {
    const { engine, notes, calls } = notebook(-2)
    const own = settings({ old_logprobs: 'learner', importance_cap: 2 })
    const metrics = await trainStep({ engine }, groups, own, { learningRate: 1 })
    expect(calls()).toEqual(['forward', 'forwardBackward', 'optimStep'])
    const [example] = notes[1]!.examples
    expect(Array.from(example!.oldLogprobs!)).toEqual([0, -2, -2, -2])
    expect(Array.from(example!.sampledLogprobs!)).toEqual([0, 0, -0.5, -1.5])
    expect(metrics.meanRatio).toBe(1)
    expect(metrics.mismatch.mean).toBe(1)
  })

  it('needs no pass for old log-probabilities before the first update', async () => {
    const { engine, notes, calls } = notebook(-2)
    const metrics = await trainStep({ engine }, groups, settings({ old_logprobs: 'learner' }), {
      learningRate: 1,
    })
    expect(calls()).toEqual(['forwardBackward', 'optimStep'])
    expect(notes[0]!.loss).toEqual({ kind: 'cross-entropy', temperature: 1 })
    // Twelve tokens, half of them with a positive advantage.
    const [one, other] = notes[0]!.examples.map(({ weights }) => Array.from(weights))
    expect(one![2]).toBeCloseTo(Math.SQRT1_2 / 12, 6)
    expect(other![2]).toBeCloseTo(-Math.SQRT1_2 / 12, 6)
    expect(metrics).toMatchObject({ meanRatio: 1, clipLow: 0, clipHigh: 0, mismatch: { mean: 1, max: 1.5 } })
  })

  it('computes old log-probabilities only for the later updates', async () => {
    const { engine, notes, calls } = notebook(-2)
    const own = settings({ old_logprobs: 'learner', mini_batches: 2 })
    const metrics = await trainStep({ engine }, groups, own, { learningRate: 1 })
    expect(calls()).toEqual(['forward', 'forwardBackward', 'optimStep', 'forwardBackward', 'optimStep'])
    expect(notes[0]!.examples.length).toBe(4)
    expect(notes[1]!.loss!.kind).toBe('cross-entropy')
    expect(notes[3]!.loss!.kind).toBe('policy')
    expect(Array.from(notes[3]!.examples[0]!.oldLogprobs!)).toEqual([0, -2, -2, -2])
    expect(metrics.mismatch).toEqual({ mean: 1, max: 1.5 })
  })

  it('uses the sampling temperature in every pass', async () => {
    const { engine, notes } = notebook()
    const own = settings({ old_logprobs: 'learner', kl: 0.1, mini_batches: 2 }, { temperature: 0.8 })
    const reference = notebook()
    await trainStep({ engine, reference: reference.engine }, groups, own, { learningRate: 1 })
    const used = notes.filter(({ call }) => call !== 'optimStep').map(({ temperature }) => temperature)
    expect(used).toEqual([0.8, 0.8, 0.8, 0.8, 0.8])
    expect(reference.notes.map(({ temperature }) => temperature)).toEqual([0.8, 0.8])
  })

  it('adds a pass for the KL divergence', async () => {
    const { engine, notes, calls } = notebook(-1)
    const reference = notebook(-1.5)
    const metrics = await trainStep({ engine, reference: reference.engine }, groups, settings({ kl: 0.5 }), {
      learningRate: 1,
    })
    expect(calls()).toEqual(['forwardBackward', 'forwardBackward', 'optimStep'])
    expect(reference.calls()).toEqual(['forward'])
    expect(notes[1]!.loss).toMatchObject({ lowestRatio: 0 })
    expect(notes[1]!.examples[0]!.advantages![2]).toBeCloseTo(-0.5 * (1 - Math.exp(-0.5)), 6)
    expect(metrics.kl).toBeCloseTo(Math.exp(-0.5) + 0.5 - 1, 6)
  })
})

const schedule = { learning_rate: 8, warmup_steps: 3, final_share: 0.25, steps: 7 }

test('the learning rate has a warmup and decays to its final share', () => {
  const rates = [1, 2, 3, 4, 5, 6, 7].map((step) => learningRateAt(step, schedule))
  const expected = [8 / 3, 16 / 3, 8, 6.5, 5, 3.5, 2]
  for (const [at, rate] of rates.entries()) expect(rate).toBeCloseTo(expected[at]!, 12)
})

test('it is constant by default, beyond the last step too, and without warmup', () => {
  const constant = { ...schedule, final_share: 1 }
  expect([3, 5, 7, 9].map((step) => learningRateAt(step, constant))).toEqual([8, 8, 8, 8])
  expect(learningRateAt(9, schedule)).toBe(2)
  expect(learningRateAt(1, { ...constant, warmup_steps: 0 })).toBe(8)
  expect(learningRateAt(1, { ...schedule, warmup_steps: 0, steps: 1 })).toBe(8)
})
