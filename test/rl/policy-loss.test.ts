import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Engine, openEmbedded } from '../../src/engine/index.ts'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import { rlSettings } from '../../src/stages/rl/config.ts'
import type { Group } from '../../src/stages/rl/contract.ts'
import { examplesOf, type PolicyExample } from '../../src/stages/rl/examples.ts'
import { klExamples, normalizeWeights, policyLoss, unclippedLoss } from '../../src/stages/rl/loss.ts'
import { tokenRatios } from '../../src/stages/rl/ratios.ts'
import { TokenTally } from '../../src/stages/rl/token-tally.ts'
import { type Learner, trainStep } from '../../src/stages/rl/train-step.ts'
import { spansFrom } from '../rollout/spans.ts'
import { banditShape } from './bandit.ts'
import { makeRollout } from './make-rollout.ts'

let engine: Engine
beforeAll(async () => {
  engine = await openEmbedded({ model: { shape: banditShape, seed: 3 }, threads: 1 })
})
afterAll(() => engine.close())

/** One token after a prompt, with given ratios between the current, old and sampling policies. */
async function token(ratio: number, advantage: number, importance = 1): Promise<PolicyExample> {
  const { logprobs } = await engine.forward([{ tokens: [1, 9], weights: [0, 1] }])
  const old = logprobs[0]![1]! - Math.log(ratio)
  return {
    tokens: Int32Array.of(1, 9),
    weights: Float32Array.of(0, 1),
    oldLogprobs: Float32Array.of(0, old),
    sampledLogprobs: Float32Array.of(0, old - Math.log(importance)),
    advantages: Float32Array.of(0, advantage),
  }
}

const dapo = { clip_low: 0.2, clip_high: 0.28, dual_clip: 0, importance_cap: 2, temperature: 1 }

describe('the loss of a token, computed by hand', () => {
  // ratio, advantage, importance weight, loss, whether there is a gradient
  const table: [typeof dapo, number, number, number, number, boolean][] = [
    [dapo, 1, 1, 1, -1, true],
    [dapo, 1.25, 1, 1, -1.25, true],
    [dapo, 1.5, 1, 1, -1.28, false],
    [dapo, 1.5, -1, 1, 1.5, true],
    [dapo, 0.5, 1, 1, -0.5, true],
    [dapo, 0.5, -1, 1, 0.8, false],
    [dapo, 0.9, -2, 1, 1.8, true],
    [{ ...dapo, clip_high: 0.2 }, 1.25, 1, 1, -1.2, false],
    // Dual clip: a negative advantage costs at most three times itself; a positive one is unaffected.
    [{ ...dapo, dual_clip: 3 }, 5, -1, 1, 3, false],
    [{ ...dapo, dual_clip: 3 }, 2, -1, 1, 2, true],
    [{ ...dapo, dual_clip: 3 }, 5, 1, 1, -1.28, false],
    [{ ...dapo, dual_clip: 10 }, 5, -1, 1, 5, true],
    // If a ratio would overflow or underflow, its logarithm is clamped at 20 and there is no gradient.
    [{ ...dapo, dual_clip: 10 }, 1e40, -1, 1, 10, false],
    [{ ...dapo, dual_clip: 10 }, 1e40, 1, 1, -1.28, false],
    [{ ...dapo, dual_clip: 10 }, 1e-40, 1, 1, 0, false],
    // Truncated importance weights: up to 2, and none if disabled.
    [dapo, 1, 1, 1.5, -1.5, true],
    [dapo, 1, 1, 4, -2, true],
    [dapo, 1, -1, 0.25, 0.25, true],
    [dapo, 1.5, 1, 4, -2.56, false],
    [{ ...dapo, importance_cap: 0 }, 1, 1, 4, -1, true],
  ]
  for (const [settings, ratio, advantage, importance, wanted, pulls] of table) {
    const { clip_high, dual_clip, importance_cap } = settings
    it(`r ${ratio}, A ${advantage}, sampled ${importance}: ${wanted} (high ${clip_high}, dual ${dual_clip}, cap ${importance_cap})`, async () => {
      const example = await token(ratio, advantage, importance)
      const { loss } = await engine.forwardBackward([example], policyLoss(settings))
      expect(loss).toBeCloseTo(wanted, 4)
      const { gradientNorm } = await engine.optimStep({ learningRate: 0 })
      if (pulls) expect(gradientNorm).toBeGreaterThan(0.01)
      else expect(gradientNorm).toBe(0)
    })
  }

  it('counts clipped tokens among the trained ones', async () => {
    const rows: [number, number, number][] = [
      [1.5, 1, 1],
      [1.5, -1, 1],
      [0.5, -1, 1],
      [1, 1, 4],
    ]
    const examples = await Promise.all(rows.map((row) => token(...row)))
    const masked = { ...(await token(9, 1, 9)), weights: new Float32Array(2) }
    const { logprobs } = await engine.forward([...examples, masked])
    const tally = new TokenTally()
    const all = [...examples, masked]
    tally.add(all, tokenRatios(all, logprobs), { lowestRatio: 0.8, highestRatio: 1.28, importanceCap: 2 })
    const metrics = tally.metrics()
    expect(metrics).toMatchObject({ tokens: 4, clipLow: 0.25, clipHigh: 0.25, capped: 0.25 })
    expect(metrics.meanRatio).toBeCloseTo((1.5 + 1.5 + 0.5 + 1) / 4, 5)
  })

  it('is the mean over all tokens of an update, or over rollouts', async () => {
    const one = await token(1, 1)
    const other = await token(1.25, -1)
    const loss = policyLoss(dapo)
    const sum = async (mode: 'token' | 'sequence'): Promise<number> => {
      const found = await engine.forwardBackward(normalizeWeights([[one], [other, other, other]], mode), loss)
      await engine.optimStep({ learningRate: 0 })
      return found.loss
    }
    expect(await sum('token')).toBeCloseTo((-1 + 3 * 1.25) / 4, 5)
    expect(await sum('sequence')).toBeCloseTo((-1 + 1.25) / 2, 5)
  })
})

describe('the KL divergence from a reference', () => {
  it('has exactly the gradient of its estimate', async () => {
    const example = await token(1, 5)
    await engine.forwardBackward([example], { kind: 'cross-entropy' })
    const { gradientNorm: slope } = await engine.optimStep({ learningRate: 0 })
    const { logprobs } = await engine.forward([example])
    for (const apart of [-2, -0.1, 0.5, 1]) {
      const reference = [Float32Array.of(0, logprobs[0]![1]! + apart)]
      await engine.forwardBackward(klExamples([example], logprobs, reference, 0.3), unclippedLoss(1))
      const { gradientNorm } = await engine.optimStep({ learningRate: 0 })
      // d/dx (exp(r − x) − (r − x) − 1) = 1 − exp(r − x)
      expect(gradientNorm / slope).toBeCloseTo(0.3 * Math.abs(1 - Math.exp(apart)), 4)
    }
  })
})

describe('masked tokens', () => {
  const settings = { learningRate: 0.05, maxNorm: 1 }
  let start: string
  beforeAll(async () => {
    start = join(mkdtempSync(join(tmpdir(), 'coa-rl-')), 'model')
    await engine.save(start, { stage: 'init', step: 0, createdAt: '2026-01-01T00:00:00.000Z' })
  })
  afterAll(() => rmSync(dirname(start), { recursive: true }))
  const probe = { tokens: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], weights: Array(15).fill(1) }

  /** Log-probabilities after an update on this example: equal only for equal weights. */
  async function learnedFrom(example: PolicyExample): Promise<Float32Array> {
    await engine.load(start)
    await engine.forwardBackward([example], policyLoss(dapo))
    await engine.optimStep(settings)
    return (await engine.forward([probe])).logprobs[0]!
  }

  const rollout = (...observation: number[]) =>
    examplesOf(
      makeRollout({
        ...spansFrom([
          { prompt: [1, 2] },
          { sampled: [7, 8], logprobs: [-2.5, -2.5] },
          { inserted: observation },
        ]),
      }),
      1,
    )[0]!

  /** The same with the observation at the end, so that its last token is only a target. */
  const withTarget = (target: number, weight: number): PolicyExample => {
    const { tokens, weights, sampledLogprobs, oldLogprobs, advantages } = rollout(5)
    const longer = (column: Float32Array, last: number): Float32Array => Float32Array.of(...column, last)
    return {
      tokens: Int32Array.of(...tokens, target),
      weights: longer(weights, weight),
      sampledLogprobs: longer(sampledLogprobs, -1),
      oldLogprobs: longer(oldLogprobs, -1),
      advantages: longer(advantages, 3),
    }
  }

  it('have no effect: another target in an observation gives the same weights, bit for bit', async () => {
    const weights = await learnedFrom(withTarget(5, 0))
    expect(await learnedFrom(withTarget(6, 0))).toEqual(weights)
    expect(await learnedFrom(withTarget(14, 0))).toEqual(weights)
    // The test detects a difference if there is one.
    expect(await learnedFrom(withTarget(6, 1))).not.toEqual(weights)
    expect(await learnedFrom(withTarget(5, 1))).not.toEqual(weights)
  })

  it('an observation after the last sampled token is not included', async () => {
    expect(rollout(5, 6, 7)).toEqual(rollout(9))
  })
})

it('the first update of a step is the same with and without a pass for old log-probabilities', async () => {
  const parts = (seed: number) => {
    const tokens = [seed % 16, (seed * 5) % 16, (seed * 11 + 3) % 16]
    return spansFrom([{ prompt: [1, 2] }, { sampled: tokens, logprobs: [-2, -3, -2.5] }])
  }
  const groups: Group[] = [0, 1, 2, 3].map((group) => ({
    id: `g${group}`,
    taskId: 't',
    members: [1, 0.2, 0].map((reward, member) => ({
      rollout: makeRollout(parts(group * 3 + member)),
      reward,
      isCorrect: reward === 1,
    })),
  }))
  for (const rl of [{}, { mini_batches: 2 }, { algorithm: 'grpo', mini_batches: 3 }]) {
    const settings = rlSettings(ProjectConfig.parse({ rl, rollout: { temperature: 0.7 } }))
    const weights = []
    for (const skips of [true, false]) {
      const own = await openEmbedded({ model: { shape: banditShape, seed: 3 }, threads: 1 })
      // A cap that no weight reaches, on tokens "sampled" by the learner itself, takes the long way.
      const { logprobs } = await own.forward(
        groups.flatMap(({ members }) => members.flatMap(({ rollout }) => examplesOf(rollout, 1))),
        undefined,
        0.7,
      )
      let next = 0
      const sampled = groups.map((group) => ({
        ...group,
        members: group.members.map((member) => {
          const found = [...logprobs[next++]!.subarray(2)]
          const spans = member.rollout.spans.map((span) => ({ ...span, logprobs: found }))
          return { ...member, rollout: { ...member.rollout, spans } }
        }),
      }))
      const calls: string[] = []
      const engine: Learner['engine'] = {
        forward: (...given) => {
          calls.push('forward')
          return own.forward(...given)
        },
        forwardBackward: (...given) => own.forwardBackward(...given),
        optimStep: (given) => own.optimStep(given),
      }
      const metrics = await trainStep(
        { engine },
        sampled,
        skips ? settings : { ...settings, importance_cap: 1e6 },
        { learningRate: 0.05 },
      )
      expect(calls.length).toBe(skips && settings.mini_batches === 1 ? 0 : 1)
      const { logprobs: after } = await own.forward([
        { tokens: [1, 2, 3, 4, 5, 6], weights: [0, 1, 1, 1, 1, 1] },
      ])
      weights.push({ after: after[0]!, metrics })
      await own.close()
    }
    const [short, long] = weights
    for (const [at, logprob] of short!.after.entries()) expect(logprob).toBeCloseTo(long!.after[at]!, 5)
    for (const name of ['gradientNorm', 'meanRatio', 'clipLow', 'clipHigh', 'tokens'] as const)
      expect(short!.metrics[name]).toBeCloseTo(long!.metrics[name], 5)
    expect(short!.metrics.mismatch.mean).toBeCloseTo(long!.metrics.mismatch.mean, 5)
  }
})
