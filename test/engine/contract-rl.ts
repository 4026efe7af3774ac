import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { normalized } from '../../src/engine/index.ts'
import type { ContractSubject } from './contract.ts'

const text = (value: string): number[] => [...Buffer.from(value)]
const note = { stage: 'sft', step: 1, createdAt: '2026-01-01T00:00:00Z' } as const
const some = ['a team of agents becomes one model', 'short'].map((value) => ({
  tokens: text(value),
  weights: text(value).map(() => 1),
}))

/** What RL needs of every driver: the policy loss, sampling temperatures in training, and resetting the optimizer. */
export function rlContract({ open, tolerance }: ContractSubject): void {
  it('raises the probability of positive advantages and lowers that of negative ones, within the clip range', async () => {
    const learner = await open()
    const prompt = text('pick ')
    const samples = await learner.sample({ prompt, maxTokens: 4, seed: 1, count: 2 })
    const rollouts = samples.map((sample, index) => {
      const tokens = [...prompt, ...sample.tokens]
      const inPrompt = prompt.map(() => 0)
      return {
        tokens,
        weights: [...inPrompt, 1, 1, 1, 1],
        sampledLogprobs: [...inPrompt, ...sample.modelLogprobs],
        advantages: tokens.map(() => (index === 0 ? 1 : -1)),
      }
    })
    const total = ({ logprobs }: { logprobs: Float32Array[] }) =>
      logprobs.map((each) => each.slice(prompt.length).reduce((sum, value) => sum + value, 0))
    const before = total(await learner.forward(rollouts))
    const loss = { kind: 'policy', lowestRatio: 0.8, highestRatio: 1.28 } as const
    const { loss: value } = await learner.forwardBackward(rollouts, loss)
    // Every ratio is 1, so the loss is minus the sum of advantages.
    expect(Math.abs(value)).toBeLessThan(1e-2)
    await learner.optimStep({ learningRate: 1e-3 })
    const after = total(await learner.forward(rollouts))
    expect(after[0]!).toBeGreaterThan(before[0]!)
    expect(after[1]!).toBeLessThan(before[1]!)
    // Far outside the clip range there is no gradient.
    const far = rollouts.map((rollout) => ({
      ...rollout,
      sampledLogprobs: rollout.sampledLogprobs.map((logprob, at) =>
        at < prompt.length ? 0 : logprob - 3 * rollout.advantages[at]!,
      ),
    }))
    await learner.forwardBackward(far, loss)
    const { gradientNorm } = await learner.optimStep({ learningRate: 0 })
    expect(gradientNorm).toBeLessThan(1e-6)
    await learner.close()
  })

  it('continues sequences with the new weights when they change, and reports which weights sampled each token', async () => {
    const learner = await open()
    const prompt = text('a long story about ')
    const maxTokens = learner.describe().contextLength - prompt.length
    // On a busy machine all tokens may have been sampled before the weights change; then it is tried again.
    const sampleDuringStep = async () => {
      // The first version depends on what the engine has done before.
      const [first] = await learner.sample({ prompt, maxTokens: 1, seed: 5 })
      const changed = Promise.withResolvers<void>()
      let count = 0
      const request = { prompt, maxTokens, seed: 6, onToken: () => ++count === 5 && changed.resolve() }
      const sampling = learner.sample(request)
      await changed.promise
      await learner.forwardBackward(some, { kind: 'cross-entropy' })
      await learner.optimStep({ learningRate: 0.01 })
      const [sample] = await sampling
      return { sample, start: first!.versions![0] }
    }
    let { sample, start } = await sampleDuringStep()
    for (let tries = 1; tries < 20 && sample!.versions!.every((version) => version === start); tries++)
      ({ sample, start } = await sampleDuringStep())
    const versions = [...sample!.versions!]
    expect(versions.length).toBe(sample!.tokens.length)
    const changedAt = versions.findIndex((version) => version !== start)
    expect(changedAt).toBeGreaterThanOrEqual(5)
    expect(versions.slice(0, changedAt).every((version) => version === start)).toBe(true)
    expect(versions.slice(changedAt).every((version) => version === start! + 1)).toBe(true)
    // The weights that a token is attributed to are those that sampled it.
    const tokens = [...prompt, ...sample!.tokens]
    const { logprobs } = await learner.forward([{ tokens, weights: tokens.map(() => 1) }])
    const distances = [...sample!.modelLogprobs].map((logprob, at) =>
      Math.abs(logprob - logprobs[0]![prompt.length + at]!),
    )
    for (const distance of distances.slice(changedAt)) expect(distance).toBeLessThan(tolerance)
    expect(Math.max(...distances.slice(0, changedAt))).toBeGreaterThan(tolerance)
    await learner.close()
  })

  it('trains the sampling distribution at any temperature', async () => {
    const learner = await open()
    const prompt = text('warm ')
    const temperature = 0.7
    const [sample] = await learner.sample({ prompt, maxTokens: 12, seed: 3, temperature })
    const tokens = [...prompt, ...sample!.tokens]
    const inPrompt = prompt.map(() => 0)
    const example = {
      tokens,
      weights: [...inPrompt, ...sample!.logprobs].map((_, at) => Number(at >= prompt.length)),
      sampledLogprobs: [...inPrompt, ...sample!.logprobs],
      advantages: tokens.map(() => 1),
    }
    const { logprobs } = await learner.forward([example], undefined, temperature)
    for (const [at, logprob] of sample!.logprobs.entries())
      expect(Math.abs(logprob - logprobs[0]![prompt.length + at]!)).toBeLessThan(tolerance)
    const loss = { kind: 'policy', temperature, lowestRatio: 0, highestRatio: 1e9 } as const
    // With this epsilon Adam is plain gradient descent, and the loss must fall by learning rate · |gradient|².
    const rate = 2e-5
    const adam = { learningRate: rate * 1e6, epsilon: 1e6 }
    const before = await learner.forwardBackward([example], loss)
    const { gradientNorm } = await learner.optimStep(adam)
    const after = await learner.forwardBackward([example], loss)
    await learner.optimStep({ learningRate: 0 })
    expect(before.loss).toBeCloseTo(-sample!.tokens.length, 2)
    expect((before.loss - after.loss) / (rate * gradientNorm ** 2)).toBeCloseTo(1, 1)
    await learner.close()
  })

  it('loads the optimizer state with the weights, unless it is reset', async () => {
    const learner = await open()
    const step = async (): Promise<number> => {
      await learner.forwardBackward(normalized(some), { kind: 'cross-entropy' })
      return (await learner.optimStep({ learningRate: 1e-3 })).step
    }
    await step()
    await step()
    const folder = mkdtempSync(join(tmpdir(), 'coa-engine-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const path = join(folder, 'two-steps')
    await learner.save(path, note)
    await learner.load(path)
    expect(await step()).toBe(3)
    const resumed = await learner.forward(some)
    await learner.load(path, { fresh: true })
    expect(await step()).toBe(1)
    // The moments were reset too: the same gradient leads elsewhere.
    expect((await learner.forward(some)).logprobs).not.toEqual(resumed.logprobs)
    await learner.close()
  })
}
