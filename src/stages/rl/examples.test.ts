import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { makeRollout } from '../../../test/rl/make-rollout.ts'
import { type Part, spansFrom } from '../../../test/rollout/spans.ts'
import { examplesOf } from './examples.ts'

describe('examplesOf', () => {
  it('trains only sampled tokens', () => {
    const parts: Part[] = [
      { prompt: [1, 2] },
      { sampled: [3, 4], logprobs: [-0.5, -1.5], modelLogprobs: [-1, -2] },
      { inserted: [5, 6, 7] },
      { sampled: [8], logprobs: [-0.25] },
      { inserted: [9] },
    ]
    const [example, ...rest] = examplesOf(makeRollout(spansFrom(parts)), -2, true)
    expect(rest).toEqual([])
    expect(example).toEqual({
      tokens: Int32Array.of(1, 2, 3, 4, 5, 6, 7, 8),
      weights: Float32Array.of(0, 0, 1, 1, 0, 0, 0, 1),
      sampledLogprobs: Float32Array.of(0, 0, -0.5, -1.5, 0, 0, 0, -0.25),
      oldLogprobs: Float32Array.of(0, 0, -1, -2, 0, 0, 0, -0.25),
      advantages: Float32Array.of(0, 0, -2, -2, 0, 0, 0, -2),
    })
    // Without a mask the sampled distribution is the trained one, at any temperature.
    const [plain] = examplesOf(makeRollout(spansFrom(parts)), -2)
    expect(plain!.oldLogprobs).toEqual(plain!.sampledLogprobs)
  })

  it('makes one example per context if observations were shortened', () => {
    const parts: Part[] = [
      { prompt: [1] },
      { sampled: [2], logprobs: [-1] },
      { inserted: [3, 4, 5], shortened: { request: 2, tokens: [3] } },
      { sampled: [6], logprobs: [-2] },
      { inserted: [7, 7] },
      { sampled: [8, 9], logprobs: [-3, -4] },
    ]
    const found = examplesOf(makeRollout(spansFrom(parts)), 1)
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

  it('makes no example of a rollout without sampled tokens, and refuses one without a prompt', () => {
    expect(examplesOf(makeRollout(spansFrom([{ prompt: [1] }])), 1)).toEqual([])
    const parts: Part[] = [{ sampled: [1], logprobs: [-1] }]
    expect(() => examplesOf(makeRollout(spansFrom(parts)), 1)).toThrow('does not begin with a prompt')
  })

  it('refuses a rollout that was stored without its tokens', () => {
    const [span] = makeRollout().spans
    const { tokens: _, ...bare } = span!
    expect(() => examplesOf(makeRollout({ spans: [bare] }), 1)).toThrow('without its tokens')
  })

  it('trains every sampled token once, in exactly the context the model saw', () => {
    fc.assert(
      fc.property(randomRollout, ({ parts, sampled }) => {
        const trained: { token: number; context: number[]; logprob: number }[] = []
        let strays = 0
        for (const { tokens, weights, sampledLogprobs } of examplesOf({ id: 'r', ...spansFrom(parts) }, 1)) {
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
 * Independent of the code under test: a stream that grows and is shortened as in a rollout, recording the context of
 * each token when it was sampled.
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
    const parts: Part[] = [{ prompt: [100, 101] }]
    const view: number[][] = [[100, 101]]
    const sampled: { token: number; context: number[]; logprob: number }[] = []
    let logprob = 0
    for (const [request, turn] of turns.entries()) {
      if (turn.shorten) {
        const at = parts.findIndex((part) => 'inserted' in part && part.shortened === undefined)
        const part = parts[at]
        if (part !== undefined && 'inserted' in part && part.inserted.length > 1) {
          part.shortened = { request, tokens: part.inserted.slice(0, 1) }
          view[at] = part.inserted.slice(0, 1)
        }
      }
      const context = view.flat()
      const logprobs = turn.sampled.map(() => --logprob)
      for (const [at, token] of turn.sampled.entries())
        sampled.push({ token, context: [...context, ...turn.sampled.slice(0, at)], logprob: logprobs[at]! })
      parts.push({ sampled: turn.sampled, logprobs })
      parts.push({ inserted: turn.inserted })
      view.push(turn.sampled, turn.inserted)
    }
    return { parts, sampled }
  })
