import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { checkAnswer } from '../reward/index.ts'
import { ProjectConfig } from '../settings/index.ts'
import { type OpenAiServer, startOpenAiServer } from '../testing/openai-server.ts'
import { openWorld } from './open-world.ts'

const folder = mkdtempSync(join(tmpdir(), 'coa-world-'))
let server: OpenAiServer
beforeAll(async () => {
  server = await startOpenAiServer(['{"reason": "the same city", "verdict": "correct"}'])
})
afterAll(async () => {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

const taskTools = { of: async () => [], close: async () => {} }

/** What a judge says of one answer, in a world that is opened for it alone. */
async function judgeOnce(cache: string): Promise<string> {
  const judge = { base_url: server.baseUrl, model: 'judge' }
  const world = await openWorld(ProjectConfig.parse({ tools: { cache }, judge }), { taskTools })
  try {
    const gold = { checker: 'judge', answer: 'Paris' } as const
    return (await checkAnswer(gold, 'Paris', { ...world.check, question: 'Which capital?' })).outcome
  } finally {
    await world.close()
  }
}

it('asks the judge once about the same answer, in whichever process, unless nothing is kept', async () => {
  const cache = join(folder, 'kept')
  expect(await judgeOnce(cache)).toBe('correct')
  expect(await judgeOnce(cache)).toBe('correct')
  expect(server.requests).toHaveLength(1)
  expect(await judgeOnce('')).toBe('correct')
  expect(server.requests).toHaveLength(2)
})
