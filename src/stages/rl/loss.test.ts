import { describe, expect, it } from 'vitest'
import { makeRollout } from '../../../test/rl/make-rollout.ts'
import { spansFrom } from '../../../test/rollout/spans.ts'
import { examplesOf } from './examples.ts'
import { klExamples, klSum, normalizeWeights, policyLoss } from './loss.ts'

const off = { clip_low: 0.2, clip_high: 0.28, dual_clip: 0, importance_cap: 0, temperature: 0.8 }

it("converts settings to the engine's loss", () => {
  expect(policyLoss(off)).toEqual({ kind: 'policy', temperature: 0.8, lowestRatio: 0.8, highestRatio: 1.28 })
  expect(policyLoss({ ...off, dual_clip: 3, importance_cap: 2 })).toEqual({
    kind: 'policy',
    temperature: 0.8,
    lowestRatio: 0.8,
    highestRatio: 1.28,
    dualClip: 3,
    importanceCap: 2,
  })
})

describe('normalizeWeights', () => {
  const rollout = (sampled: number) =>
    examplesOf(
      makeRollout({
        ...spansFrom([{ prompt: [1] }, { sampled: Array(sampled).fill(2) }]),
      }),
      1,
    )
  const shortened = examplesOf(
    makeRollout({
      ...spansFrom([
        { prompt: [1] },
        { sampled: [2] },
        { inserted: [3, 3], shortened: { request: 1, tokens: [3] } },
        { sampled: [4] },
      ]),
    }),
    1,
  )
  const weights = (mode: 'token' | 'sequence') =>
    normalizeWeights([rollout(1), rollout(5), shortened, []], mode).map((example) => [...example.weights])
  const single = Math.fround

  it('weights every token of an update equally', () => {
    const each = single(1 / 8)
    expect(weights('token')).toEqual([
      [0, each],
      [0, each, each, each, each, each],
      [0, each],
      [0, 0, 0, each],
    ])
  })

  it('weights every rollout equally, also one with several contexts', () => {
    const short = single(1 / 3)
    const long = single(1 / 15)
    const half = single(1 / 6)
    expect(weights('sequence')).toEqual([
      [0, short],
      [0, long, long, long, long, long],
      [0, half],
      [0, 0, 0, half],
    ])
  })
})

it('expresses the KL divergence as an advantage with the same gradient', () => {
  const [example] = examplesOf(makeRollout(), 7)
  const current = [Float32Array.of(0, -9, -1, -2)]
  const reference = [Float32Array.of(0, -1, -2, -1)]
  const [made] = klExamples([example!], current, reference, 0.5)
  expect(made!.oldLogprobs).toEqual(current[0])
  expect(made!.sampledLogprobs).toEqual(current[0])
  // −kl·(1 − exp(ref − now)); 0 for tokens that were not sampled.
  expect([...made!.advantages]).toEqual(
    [0, 0, -0.5 * (1 - Math.exp(-1)), -0.5 * (1 - Math.exp(1))].map(Math.fround),
  )
  // k1: kl·(ref − now), limited.
  const far = [Float32Array.of(0, -9, -1, -2).fill(-40, 3)]
  const [direct] = klExamples([example!], current, reference, 0.5, 'k1')
  expect([...direct!.advantages]).toEqual([0, 0, -0.5, 0.5])
  const [limited] = klExamples([example!], current, far, 0.5, 'k1')
  expect([...limited!.advantages]).toEqual([0, 0, 0, -2.5])
  const { sum, tokens } = klSum([example!], current, reference)
  expect(tokens).toBe(2)
  expect(sum).toBeCloseTo(Math.exp(-1) + 1 - 1 + (Math.exp(1) - 1 - 1), 12)
})
