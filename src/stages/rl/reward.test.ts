import { describe, expect, it } from 'vitest'
import { makeRollout, wrong } from '../../../test/rl/make-rollout.ts'
import { spansFrom } from '../../../test/rollout/spans.ts'
import { checkAnswer } from '../../reward/index.ts'
import { lengthOf, overlongPenalty, scoreRollout } from './reward.ts'

const plain = {
  reward: 'verdict' as const,
  partial: false,
  format_bonus: 0,
  format_penalty: 0,
  tool_bonus: 0,
  overlong_buffer: 0,
  overlong_factor: 1,
  overlong_filter: false,
  void_filter: false,
  maxTokens: 100,
}

describe('scoreRollout', () => {
  it('is 1 for a correct answer and 0 for a wrong or missing one', () => {
    expect(scoreRollout(makeRollout(), plain)).toEqual({ reward: 1, isCorrect: true })
    expect(scoreRollout(makeRollout({ verdict: wrong }), plain)).toEqual({ reward: 0, isCorrect: false })
    const silent = makeRollout({ verdict: undefined, answer: undefined, stop: 'tokens' })
    expect(scoreRollout(silent, plain)).toEqual({ reward: 0, isCorrect: false })
  })

  it('excludes void turns only with rl.void_filter', () => {
    const silent = makeRollout({ verdict: undefined, answer: undefined, stop: 'end' })
    expect(scoreRollout(silent, plain)).toEqual({ reward: 0, isCorrect: false })
    expect(scoreRollout(silent, { ...plain, void_filter: true })).toEqual({ leftOut: 'void' })
    // A rollout that was cut off, or that called a tool too often, has no void turn.
    for (const stop of ['tokens', 'turns', 'repetition'] as const)
      expect(scoreRollout({ ...silent, stop }, { ...plain, void_filter: true })).toMatchObject({ reward: 0 })
  })

  it.each(['at4}', 'cl11', '<think>', '</answer>', '\\frac{1', '4)))'])(
    'punishes %s, which is no answer to a question for a number',
    async (answer) => {
      const verdict = await checkAnswer({ checker: 'math', answer: '12' }, answer)
      expect(scoreRollout(makeRollout({ answer, verdict }), plain)).toEqual({ reward: 0, isCorrect: false })
    },
  )

  it('excludes rollouts that say nothing about the model, with any options', () => {
    const failure = { boundary: 'tool', message: 'gone' }
    const undecided = { outcome: 'undecided', checker: 'judge', evidence: '' } as const
    const generous = { ...plain, partial: true, format_bonus: 1, tool_bonus: 1, overlong_buffer: 100 }
    for (const settings of [plain, generous]) {
      expect(scoreRollout(makeRollout({ failure }), settings)).toEqual({ leftOut: 'environment' })
      expect(scoreRollout(makeRollout({ failure, verdict: wrong }), settings)).toEqual({
        leftOut: 'environment',
      })
      expect(scoreRollout(makeRollout({ stop: 'failed' }), settings)).toEqual({ leftOut: 'environment' })
      expect(scoreRollout(makeRollout({ stop: 'time', verdict: wrong }), settings)).toEqual({
        leftOut: 'time',
      })
      expect(scoreRollout(makeRollout({ verdict: undecided }), settings)).toEqual({ leftOut: 'undecided' })
      expect(scoreRollout(makeRollout({ verdict: undefined }), settings)).toEqual({ leftOut: 'unchecked' })
    }
  })

  it('excludes rollouts cut off by a length limit only if asked to', () => {
    for (const stop of ['tokens', 'context'] as const) {
      const cut = makeRollout({ stop, verdict: wrong })
      expect(scoreRollout(cut, plain)).toEqual({ reward: 0, isCorrect: false })
      expect(scoreRollout(cut, { ...plain, overlong_filter: true })).toEqual({ leftOut: 'overlong' })
    }
    expect(scoreRollout(makeRollout({ stop: 'turns' }), { ...plain, overlong_filter: true })).toMatchObject({
      reward: 1,
    })
  })

  it('adds the configured terms', () => {
    const half = { outcome: 'wrong', checker: 'code', evidence: '', score: 0.5 } as const
    const call = (outcome: 'ok' | 'malformed') => [{ agent: 'code', outcome, ms: 1, cached: false }]
    const table: [Parameters<typeof makeRollout>[0], Partial<typeof plain>, number][] = [
      [{ verdict: half }, { partial: true }, 0.5],
      [{ verdict: half }, {}, 0],
      [{}, { format_bonus: 0.25, format_penalty: 0.5 }, 1.25],
      [{ wellFormed: false }, { format_bonus: 0.25, format_penalty: 0.5 }, 0.5],
      [{ calls: call('ok') }, { tool_bonus: 0.125 }, 1.125],
      [{ calls: call('malformed') }, { tool_bonus: 0.125 }, 1],
      // Two tokens of at most four, with the last three as buffer.
      [{}, { maxTokens: 4, overlong_buffer: 3 }, 1 - 1 / 3],
    ]
    for (const [parts, settings, reward] of table)
      expect(scoreRollout(makeRollout(parts), { ...plain, ...settings })).toMatchObject({ reward })
  })
})

describe('overlongPenalty', () => {
  it('matches the paper: 20,480 tokens, the last 4,096 of them the buffer', () => {
    const limits = { maxTokens: 20_480, buffer: 4096, factor: 1 }
    const table = [
      [0, 0],
      [16_384, 0],
      [16_385, -1 / 4096],
      [17_408, -0.25],
      [18_432, -0.5],
      [20_480, -1],
      [25_000, -1],
    ] as const
    for (const [length, penalty] of table) expect(overlongPenalty(length, limits)).toBe(penalty)
    expect(overlongPenalty(18_432, { ...limits, factor: 0.5 })).toBe(-0.25)
    expect(overlongPenalty(25_000, { ...limits, buffer: 0 })).toBe(0)
  })

  it('counts everything after the prompt, at full length', () => {
    const stream = spansFrom([
      { prompt: [1, 2, 3] },
      { sampled: [4], logprobs: [-1] },
      { inserted: [5, 6, 7, 8], shortened: { request: 1, tokens: [5] } },
      { sampled: [9, 9], logprobs: [-1, -1] },
    ])
    expect(lengthOf(stream)).toBe(7)
  })
})
