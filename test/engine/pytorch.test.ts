import { describe, expect, it } from 'vitest'
import { shapeFromConfig } from '../../src/engine/checkpoint/index.ts'
import { distance, examplesOf, type Fixture, fixtureNames, readFixture, trainerOf } from './fixtures.ts'

/** Relative error allowed against PyTorch in float64. */
const TOLERANCE = 1e-4
const noPause = () => undefined

function closeTo(found: number, wanted: number): void {
  expect(Math.abs(found - wanted)).toBeLessThan(TOLERANCE * Math.max(1, Math.abs(wanted)))
}

function compareGradients(
  { store }: Awaited<ReturnType<typeof trainerOf>>,
  wanted: Fixture['cross_entropy']['gradients'],
): void {
  expect(store.trained.map(({ name }) => name).sort()).toEqual(Object.keys(wanted).sort())
  for (const parameter of store.trained) {
    const difference = distance(store.part(store.gradients, parameter), wanted[parameter.name]!)
    expect(difference, parameter.name).toBeLessThan(TOLERANCE)
  }
}

describe.each(fixtureNames)('%s matches PyTorch in float64', (name) => {
  const fixture = readFixture(name)

  it('reads both formats of its config', () => {
    expect(shapeFromConfig(fixture.config_old)).toEqual(shapeFromConfig(fixture.config))
  })

  it.each([
    ['one pass', {}],
    ['a pass for each sequence', { batchTokens: 16 }],
    ['recomputed layers', { recompute: true }],
  ])('loss, log-probabilities and gradients of cross-entropy: %s', async (_name, options) => {
    const opened = await trainerOf(fixture, options)
    const result = await opened.trainer.pass(examplesOf(fixture), { kind: 'cross-entropy' }, noPause)
    closeTo(result.loss, fixture.cross_entropy.loss)
    for (const [index, { logprobs }] of fixture.sequences.entries())
      for (const [at, logprob] of logprobs.entries()) closeTo(result.logprobs[index]![at + 1]!, logprob)
    compareGradients(opened, fixture.cross_entropy.gradients)
    await opened.trainer.release()
  })

  it.each(fixture.policy)('policy loss: $name', async (policy) => {
    const opened = await trainerOf(fixture)
    const examples = examplesOf(fixture).map(({ tokens }, index) => {
      const { weights, advantages, old_logprobs, sampler_logprobs } = policy.sequences[index]!
      return {
        tokens,
        weights: [0, ...weights],
        advantages: [0, ...advantages],
        sampledLogprobs: [0, ...sampler_logprobs],
        ...(old_logprobs === null ? {} : { oldLogprobs: [0, ...old_logprobs] }),
      }
    })
    const loss = {
      kind: 'policy' as const,
      lowestRatio: 1 - policy.low,
      highestRatio: 1 + policy.high,
      ...(policy.dual_clip === null ? {} : { dualClip: policy.dual_clip }),
      ...(policy.importance_cap === null ? {} : { importanceCap: policy.importance_cap }),
    }
    const result = await opened.trainer.pass(examples, loss, noPause)
    closeTo(result.loss, policy.loss)
    compareGradients(opened, policy.gradients)
    await opened.trainer.release()
  })

  it.runIf(fixture.adamw !== undefined)('five steps of AdamW', async () => {
    const { learning_rates, betas, eps, weight_decay, max_norm, losses, gradient_norms, weights } =
      fixture.adamw!
    const { trainer, store } = await trainerOf(fixture)
    const examples = examplesOf(fixture)
    const total = examples.flatMap((example) => example.weights).reduce((sum, weight) => sum + weight, 0)
    const scaled = examples.map((example) => ({
      ...example,
      weights: example.weights.map((weight) => weight / total),
    }))
    for (const [step, learningRate] of learning_rates.entries()) {
      const { loss } = await trainer.pass(scaled, { kind: 'cross-entropy' }, noPause)
      closeTo(loss, losses[step]!)
      const { gradientNorm } = await trainer.step({
        learningRate,
        beta1: betas[0],
        beta2: betas[1],
        epsilon: eps,
        weightDecay: weight_decay,
        maxNorm: max_norm,
      })
      closeTo(gradientNorm, gradient_norms[step]!)
    }
    closeTo((await trainer.pass(scaled, { kind: 'cross-entropy' }, noPause)).loss, losses.at(-1)!)
    for (const parameter of store.trained) {
      const difference = distance(store.part(store.weights, parameter), weights[parameter.name]!)
      expect(difference, parameter.name).toBeLessThan(TOLERANCE)
    }
    await trainer.release()
  })
})
