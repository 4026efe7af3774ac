import { expect, test } from 'vitest'
import { spansFrom } from '../../../test/rollout/spans.ts'
import { Rollout } from '../../schema/index.ts'
import { attemptOfRollout } from '../../stages/eval/index.ts'
import { studentView, teamTokens } from './side-by-side.ts'

const tokens = (count: number): number[] => Array.from({ length: count }, (_, at) => at)
const sampled = (count: number) => ({ sampled: tokens(count) })

test('the page and the evaluation count the tokens of a rollout identically, with shortened or unread observations', () => {
  const rollout = Rollout.parse({
    v: 2,
    id: 'r',
    taskId: 't',
    groupId: 't',
    checkpoint: 'checkpoints/rl',
    grammar: 'math',
    seed: 1,
    prompt: [],
    ...spansFrom([
      { prompt: tokens(100) },
      sampled(10),
      { inserted: tokens(400), shortened: { request: 2, tokens: [7777] } },
      sampled(10),
      { inserted: tokens(60) },
      sampled(10),
      { inserted: tokens(200) },
    ]),
    stop: 'turns',
    calls: [],
    wellFormed: false,
    ms: { sampling: 1, tools: 1, checking: 1 },
  })
  const counted = attemptOfRollout(rollout).tokens
  const rows = new Map(
    [...studentView(rollout).text.matchAll(/<th scope="row">([^<]*)<\/th><td>([\d,]*)<\/td>/g)].map(
      ([, name, count]) => [name, Number(count!.replaceAll(',', ''))],
    ),
  )
  expect(counted).toMatchObject({ once: 601, billed: 100 + 510 + 181 + 30 })
  expect(rows.get('all, each once')).toBe(counted.once)
  expect(rows.get('all, 3 requests with their whole context')).toBe(counted.billed)
  expect(rows.get('inserted by tools')).toBe(counted.tool)
})

test("an agent's tokens are summed over its requests", () => {
  const wrote = (agent: string, promptTokens: number, completionTokens: number) => ({
    id: `${agent}${promptTokens}`,
    parent: null,
    agent,
    t: 0,
    type: 'wrote' as const,
    text: '',
    usage: { promptTokens, completionTokens },
  })
  expect(teamTokens({ events: [wrote('a', 10, 1), wrote('b', 20, 2), wrote('a', 30, 3)] })).toEqual([
    { agent: 'a', requests: 2, prompt: 40, written: 4 },
    { agent: 'b', requests: 1, prompt: 20, written: 2 },
  ])
})
