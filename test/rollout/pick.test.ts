import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import {
  lastOf,
  pickByJudge,
  pickByMajority,
  pickByScore,
  rollOut,
  rollOutAll,
} from '../../src/agent/index.ts'
import { answerKey } from '../../src/agent/pick-same.ts'
import { ModelError } from '../../src/base/errors/index.ts'
import { loadGrammar } from '../../src/language/grammar/index.ts'
import type { Rollout } from '../../src/schema/index.ts'
import { readScore } from '../../src/stages/filter/index.ts'
import type { ChatModel, CompletionRequest } from '../../src/world/models/index.ts'
import { job, policyOf, says, settings, worldOf } from './fixtures.ts'
import { spansFrom } from './spans.ts'

/** A candidate with given log-probabilities. */
function candidate(answer: string | undefined, logprob = -1): Rollout {
  return {
    v: 2,
    id: 'c',
    taskId: 't',
    groupId: 'g',
    checkpoint: 'c',
    grammar: 'web',
    seed: 1,
    prompt: [],
    ...spansFrom([
      { prompt: [1, 2, 3] },
      {
        sampled: [4, 5],
        logprobs: [-9, -9],
        modelLogprobs: [logprob, logprob],
        text: `<answer>${answer}</answer>`,
      },
      { inserted: [6] },
    ]),
    stop: 'answer',
    ...(answer === undefined ? {} : { answer }),
    calls: [],
    wellFormed: true,
    ms: { sampling: 0, tools: 0, checking: 0 },
    meta: {},
  }
}

/** Rollouts of one question with an unknown answer, with scripted replies. */
async function rolledOut(texts: readonly string[], domain: string): Promise<Rollout[]> {
  const jobs = texts.map((_, number) => ({ ...job, id: `q#${number}`, unchecked: true }))
  const world = worldOf(async () => ({ text: '' }), domain)
  const policy = policyOf((_, request) => texts[request]!)
  return rollOutAll(jobs, policy, world, settings, { concurrency: 1 })
}

it('an unchecked rollout has an answer and no verdict', async () => {
  const policy = policyOf(() => '<plan>Add.</plan>\n<think>Five.</think>\n<answer>\\boxed{5}</answer>')
  const rollout = await rollOut({ ...job, unchecked: true }, policy, says(''), settings)
  expect(rollout).toMatchObject({ stop: 'answer', answer: '\\boxed{5}' })
  expect(rollout).not.toHaveProperty('verdict')
  expect(await rollOut(job, policy, says(''), settings)).toMatchObject({ verdict: { outcome: 'correct' } })
})

describe('equivalent answers', () => {
  it.each([
    ['The Varnholm Lighthouse.', 'varnholm  lighthouse'],
    ['\\boxed{42}', '42'],
    ['$\\boxed{x + 1}$', 'x+1'],
    ['1,000', '1000'],
    ['\u22125', '-5'],
  ])('%j and %j', (left, right) => {
    expect(answerKey(left)).toBe(answerKey(right))
  })

  it.each([
    ['x + 1', 'x - 1'],
    ['x + 1', 'x / 1'],
    ['x-1', 'x1'],
    ['2-1', '21'],
    ['1.5', '15'],
    ['5', '-5'],
    ['\\frac{1}{23}', '\\frac{12}{3}'],
  ])('%j and %j do not', (left, right) => {
    expect(answerKey(left)).not.toBe(answerKey(right))
  })

  it('depend on the kind of answer', () => {
    expect(answerKey('Oslo | the Hague', 'list')).toBe(answerKey('The Hague|oslo', 'list'))
    expect(answerKey('Oslo | Bergen', 'list')).not.toBe(answerKey('Oslo Bergen', 'list'))
    expect(answerKey('print(a-b)', 'code')).not.toBe(answerKey('print(a+b)', 'code'))
    expect(answerKey('print(A)', 'code')).not.toBe(answerKey('print(a)', 'code'))
  })
})

describe('by majority', () => {
  it('the most frequent answer is chosen, in any notation', async () => {
    const rollouts = await rolledOut(
      ['\\boxed{4}', '5', '\\boxed{5}', 'The 5.'].map(
        (answer) => `<plan>P.</plan>\n<think>T.</think>\n<answer>${answer}</answer>`,
      ),
      'math',
    )
    const { chosen, reason } = pickByMajority(rollouts, await loadGrammar('math'))
    expect([1, 2, 3]).toContain(chosen)
    expect(reason).toBe('3 of 4 agree')
  })

  it('ties and representatives go to the highest log-probability', () => {
    const tied = [candidate('x y', -2), candidate('c', -1.5), candidate('c', -0.5), candidate('y x', -0.1)]
    expect(pickByMajority(tied).chosen).toBe(2)
    expect(pickByMajority([candidate('x', -2), candidate('y', -1)]).chosen).toBe(1)
    const unknown = candidate('z', Number.NaN)
    expect(pickByMajority([unknown, candidate('y', -100)]).chosen).toBe(1)
    expect(pickByMajority([unknown, unknown]).chosen).toBe(0)
  })

  it('a missing answer is not a vote', () => {
    const { chosen, reason } = pickByMajority([candidate(undefined), candidate(undefined), candidate('  ')])
    expect(chosen).toBeUndefined()
    expect(reason).toBe('no candidate has an answer')
    expect(pickByMajority([candidate(undefined), candidate(undefined), candidate('x')]).chosen).toBe(2)
  })

  it('agrees with counting', () => {
    const answers = fc.array(
      fc.record({
        answer: fc.constantFrom(undefined, 'ash', 'Ash', 'oak', 'the oak', 'elm'),
        logprob: fc.constantFrom(-3, -2, -1),
      }),
      { minLength: 1, maxLength: 12 },
    )
    fc.assert(
      fc.property(answers, (given) => {
        const { chosen } = pickByMajority(given.map(({ answer, logprob }) => candidate(answer, logprob)))
        const plain = given.map(({ answer }) => answer?.replace('the ', '').toLowerCase())
        const worth = given.map(({ logprob }, number) =>
          plain[number] === undefined
            ? -1
            : 10 * plain.filter((other) => other === plain[number]).length + logprob,
        )
        const best = Math.max(...worth)
        expect(chosen === undefined ? -1 : worth[chosen]).toBe(best)
      }),
      { numRuns: 10_000 },
    )
  })
})

describe("by the student's own check", () => {
  const chain = (answer: string, ...scores: number[]): string =>
    [
      '<think>T.</think>\n<plan>P.</plan>',
      ...scores.map((score) => `<think>T.</think>\n<double_check>Fine. Score: ${score}</double_check>`),
      `<think>T.</think>\n<answer>${answer}</answer>`,
    ].join('\n')

  it('the last score counts', async () => {
    const grammar = await loadGrammar('web')
    const rollouts = await rolledOut(
      [chain('a', 4, 2), chain('b'), chain('c', 1, 3), chain('d', 3)].map((text) => text),
      'web',
    )
    const scores = rollouts.map((rollout) => readScore(lastOf(grammar, rollout, 'double_check') ?? ''))
    expect(scores).toEqual([2, undefined, 3, 3])
    const { chosen, reason } = pickByScore(rollouts, scores)
    expect(rollouts[chosen!]!.answer).toMatch(/^[cd]$/)
    expect(reason).toBe('its own check gives it 3')
  })

  it('ties go to the highest log-probability, and no score is below every score', () => {
    const three = [candidate('a', -3), candidate('b', -1), candidate('c', -0.1)]
    expect(pickByScore(three, [3, 3, undefined]).chosen).toBe(1)
    expect(pickByScore(three, [1, undefined, undefined]).chosen).toBe(0)
    expect(pickByScore(three, [undefined, undefined, undefined])).toMatchObject({
      chosen: 2,
      reason: 'no answer was scored; this one has the highest log-probability',
    })
    expect(pickByScore([candidate(undefined), candidate('b')], [4, 1]).chosen).toBe(1)
  })
})

describe('by a judge', () => {
  function judgeSaying(reply: (prompt: string) => unknown): {
    model: Pick<ChatModel, 'complete'>
    asked: string[]
  } {
    const asked: string[] = []
    const complete = async (request: CompletionRequest & { schema?: z.ZodType }): Promise<unknown> => {
      const { prompt } = request as { prompt: string }
      asked.push(prompt)
      return { object: request.schema!.parse(reply(prompt)) }
    }
    return { model: { complete: complete as ChatModel['complete'] }, asked }
  }
  const candidates = [candidate('Oslo', -1), candidate('Rome', -2), candidate('oslo', -0.5)]

  it('distinct answers are shown once each, and the returned number is the candidate', async () => {
    const { model, asked } = judgeSaying(() => ({ reason: 'It was found.', choice: 1 }))
    const choice = await pickByJudge({ question: 'Where?', candidates }, model)
    expect(choice).toEqual({ chosen: 2, by: 'judge', reason: 'It was found.' })
    expect(asked[0]!.match(/^Answer: .*$/gm)).toEqual(['Answer: oslo', 'Answer: Rome'])
    const boundary = /<<question (\w+)>>/.exec(asked[0]!)![1]!
    expect(asked[0]!.split(boundary)).toHaveLength(8)
  })

  it('is not asked if there is nothing to choose', async () => {
    const { model, asked } = judgeSaying(() => ({ reason: '', choice: 1 }))
    const same = [candidate(undefined), candidate('Oslo'), candidate('oslo.')]
    expect((await pickByJudge({ question: 'q', candidates: same }, model)).chosen).toBe(1)
    expect(
      (await pickByJudge({ question: 'q', candidates: [candidate(undefined)] }, model)).chosen,
    ).toBeUndefined()
    expect(asked).toEqual([])
  })

  it('that fails is replaced by the majority, which is reported', async () => {
    const beyond = judgeSaying(() => ({ reason: '', choice: 9 }))
    expect(await pickByJudge({ question: 'q', candidates }, beyond.model)).toEqual({
      chosen: 2,
      by: 'majority',
      reason: '2 of 3 agree; the judge could not choose: it chose 9 of 2',
    })
    const broken = judgeSaying(() => {
      throw new ModelError('out of reach')
    })
    expect((await pickByJudge({ question: 'q', candidates }, broken.model)).reason).toContain('out of reach')
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(pickByJudge({ question: 'q', candidates }, broken.model, signal)).rejects.toThrow('enough')
  })
})
