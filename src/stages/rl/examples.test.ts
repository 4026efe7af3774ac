import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { makeRollout } from '../../../test/rl/make-rollout.ts'
import type { RolloutSegment } from '../../schema/index.ts'
import { examplesOf } from './examples.ts'

describe('examplesOf', () => {
  it('trains what was sampled and nothing else', () => {
    const segments: RolloutSegment[] = [
      { origin: 'prompt', tokens: [1, 2] },
      { origin: 'sampled', tokens: [3, 4], logprobs: [-0.5, -1.5], modelLogprobs: [-1, -2] },
      { origin: 'inserted', tokens: [5, 6, 7] },
      { origin: 'sampled', tokens: [8], logprobs: [-0.25] },
      { origin: 'inserted', tokens: [9] },
    ]
    const [example, ...rest] = examplesOf(makeRollout({ segments }), -2, true)
    expect(rest).toEqual([])
    expect(example).toEqual({
      tokens: Int32Array.of(1, 2, 3, 4, 5, 6, 7, 8),
      weights: Float32Array.of(0, 0, 1, 1, 0, 0, 0, 1),
      sampledLogprobs: Float32Array.of(0, 0, -0.5, -1.5, 0, 0, 0, -0.25),
      oldLogprobs: Float32Array.of(0, 0, -1, -2, 0, 0, 0, -0.25),
      advantages: Float32Array.of(0, 0, -2, -2, 0, 0, 0, -2),
    })
    // Without a mask what was sampled from is what is trained, whatever the temperature.
    const [plain] = examplesOf(makeRollout({ segments }), -2)
    expect(plain!.oldLogprobs).toEqual(plain!.sampledLogprobs)
  })

  it('makes an example for each context where observations were shortened', () => {
    const segments: RolloutSegment[] = [
      { origin: 'prompt', tokens: [1] },
      { origin: 'sampled', tokens: [2], logprobs: [-1] },
      { origin: 'inserted', tokens: [3, 4, 5], shortened: { from: 5, tokens: [3] } },
      { origin: 'sampled', tokens: [6], logprobs: [-2] },
      { origin: 'inserted', tokens: [7, 7] },
      { origin: 'sampled', tokens: [8, 9], logprobs: [-3, -4] },
    ]
    const found = examplesOf(makeRollout({ segments }), 1)
    expect(found.map(({ tokens, weights }) => [[...tokens], [...weights]])).toEqual([
      [
        [1, 2, 3, 4, 5, 6],
        [0, 1, 0, 0, 0, 1],
      ],
      [
        [1, 2, 3, 6, 7, 7, 8, 9],
        [0, 0, 0, 0, 0, 0, 1, 1],
      ],
    ])
    expect([...found[1]!.sampledLogprobs]).toEqual([0, 0, 0, 0, 0, 0, -3, -4])
  })

  it('has no example of a rollout in which nothing was sampled, and refuses one without a prompt', () => {
    expect(examplesOf(makeRollout({ segments: [{ origin: 'prompt', tokens: [1] }] }), 1)).toEqual([])
    const segments: RolloutSegment[] = [{ origin: 'sampled', tokens: [1], logprobs: [-1] }]
    expect(() => examplesOf(makeRollout({ segments }), 1)).toThrow('does not begin with a prompt')
  })

  it('trains every sampled token once, behind exactly what the model saw', () => {
    fc.assert(
      fc.property(randomRollout, ({ segments, sampled }) => {
        const trained: { token: number; context: number[]; logprob: number }[] = []
        let strays = 0
        for (const { tokens, weights, sampledLogprobs } of examplesOf({ id: 'r', segments }, 1)) {
          for (let at = 0; at < tokens.length; at++) {
            if (weights[at] === 0 && sampledLogprobs[at] === 0) continue
            if (weights[at] !== 1) strays++
            const context = Array.from(tokens.subarray(0, at))
            trained.push({ token: tokens[at]!, context, logprob: sampledLogprobs[at]! })
          }
        }
        expect(strays).toBe(0)
        expect(trained).toEqual(sampled)
      }),
      { numRuns: 10_000 },
    )
  })
})

/**
 * Written independently of the code under test: a stream that really grows and is really shortened, as a rollout does
 * it, with a note of what stood before each token when it was sampled.
 */
const randomRollout = fc
  .array(
    fc.record({
      sampled: fc.array(fc.nat(99), { maxLength: 3 }),
      inserted: fc.array(fc.nat(99), { maxLength: 4 }),
      shorten: fc.boolean(),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((turns) => {
    const segments: RolloutSegment[] = [{ origin: 'prompt', tokens: [100, 101] }]
    const view: number[][] = [[100, 101]]
    const sampled: { token: number; context: number[]; logprob: number }[] = []
    let logprob = 0
    for (const turn of turns) {
      if (turn.shorten) {
        const at = segments.findIndex((s) => s.origin === 'inserted' && s.shortened === undefined)
        const segment = segments[at]
        if (segment?.origin === 'inserted' && segment.tokens.length > 1) {
          segment.shortened = { from: segments.length, tokens: segment.tokens.slice(0, 1) }
          view[at] = segment.tokens.slice(0, 1)
        }
      }
      const context = view.flat()
      const logprobs = turn.sampled.map(() => --logprob)
      for (const [at, token] of turn.sampled.entries())
        sampled.push({ token, context: [...context, ...turn.sampled.slice(0, at)], logprob: logprobs[at]! })
      segments.push({ origin: 'sampled', tokens: turn.sampled, logprobs })
      segments.push({ origin: 'inserted', tokens: turn.inserted })
      view.push(turn.sampled, turn.inserted)
    }
    return { segments, sampled }
  })
