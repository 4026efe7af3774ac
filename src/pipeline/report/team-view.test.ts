import { expect, test } from 'vitest'
import { teamTokens } from './team-view.ts'

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
