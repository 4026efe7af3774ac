import { afterEach, expect, it } from 'vitest'
import { type OpenAiServer, startOpenAiServer } from '../../src/testing/openai-server.ts'
import { createJudge, type JudgeModel } from '../../src/world/judge/index.ts'
import { openModel, promptFunction } from '../../src/world/models/index.ts'

let server: OpenAiServer
afterEach(() => server.close())

it('a chat model can be used as a judge', async () => {
  server = await startOpenAiServer([
    { status: 503 },
    '{"reason": "the same number", "verdict": "correct"}',
    '{"reason": "another city", "verdict": "incorrect"}',
  ])
  const model: JudgeModel = promptFunction(openModel({ baseUrl: server.baseUrl, model: 'judge', retries: 1 }))
  const judge = createJudge({ model, modelName: 'judge' })
  expect(await judge.judge({ question: 'How many?', reference: '12', answer: 'a dozen' })).toEqual({
    isCorrect: true,
    reason: 'the same number',
  })
  expect(await judge.judge({ question: 'Where?', reference: 'Varnholm', answer: 'Skarn' })).toMatchObject({
    isCorrect: false,
  })
  expect(server.requests).toHaveLength(3)
  expect(server.requests[1]?.body).toMatchObject({
    temperature: 0,
    messages: [{ role: 'system' }, { role: 'user' }],
  })
})
