import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseChain, systemPrompt } from '../language/grammar/index.ts'
import { ProjectConfig } from '../pipeline/settings.ts'
import { checkAnswer } from '../reward/index.ts'
import type { Task } from '../schema/index.ts'
import { type OpenAiServer, startOpenAiServer } from '../testing/openai-server.ts'
import { openWorld } from './open-world.ts'
import { callTool } from './tools/index.ts'

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

/** The judge's verdict on one answer, in a world opened only for it. */
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

it('asks the judge once about the same answer, across processes, unless caching is off', async () => {
  const cache = join(folder, 'kept')
  expect(await judgeOnce(cache)).toBe('correct')
  expect(await judgeOnce(cache)).toBe('correct')
  expect(server.requests).toHaveLength(1)
  expect(await judgeOnce('')).toBe('correct')
  expect(server.requests).toHaveLength(2)
})

const task: Task = {
  v: 1,
  id: 'task',
  suite: 'orders',
  domain: 'web',
  question: 'What was ordered?',
  gold: { checker: 'exact', answers: ['tea'] },
  meta: {},
}

it('adds user-defined tools to every grammar, and caches the outputs of those that allow it', async () => {
  const [file, log] = [join(folder, 'tools.mts'), join(folder, 'orders.txt')]
  const library = pathToFileURL(join(import.meta.dirname, 'tools/define-tool.ts')).href
  writeFileSync(
    file,
    `import { appendFileSync } from 'node:fs'
    import { z } from ${JSON.stringify(import.meta.resolve('zod'))}
    import { defineTool } from ${JSON.stringify(library)}
    export const findOrder = defineTool({
      name: 'find_order',
      description: 'Look up an order.',
      input: z.object({ number: z.number().int() }),
      cacheable: true,
      execute: ({ number }) => {
        appendFileSync(${JSON.stringify(log)}, 'x')
        return 'tea ' + number
      },
    })`,
  )
  const ask = async (cache: string): Promise<string> => {
    const config = ProjectConfig.parse({ tools: { cache, own: { files: [file] } } })
    const world = await openWorld(config, { taskTools })
    try {
      const grammar = await world.grammarOf(task)
      expect(systemPrompt(grammar)).toContain('<find_order>{…} matching')
      const { calls } = parseChain(grammar, '<find_order>{"number": 7}</find_order>')
      const tool = (await world.toolsOf(task)).find(({ name }) => name === 'find_order')!
      return (await callTool(tool, calls[0]!.payload, world.calling)).text
    } finally {
      await world.close()
    }
  }
  const cache = join(folder, 'outputs')
  expect([await ask(cache), await ask(cache), await ask('')]).toEqual(['tea 7', 'tea 7', 'tea 7'])
  expect(readFileSync(log, 'utf8')).toBe('xx')
})

it.each([
  ['missing.ts', undefined, 'does not exist'],
  ['empty.mts', 'export const nothing = 1', 'exports no tools'],
  ['broken.mts', 'export const = 1', 'cannot load'],
])('reports what is wrong with %s', async (name, text, problem) => {
  const file = join(folder, name)
  if (text !== undefined) writeFileSync(file, text)
  const config = ProjectConfig.parse({ tools: { own: { files: [file] } } })
  await expect(openWorld(config, { taskTools })).rejects.toThrow(problem)
})
