import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll } from 'vitest'
import { z } from 'zod'
import { openStudent, openWorld } from '../../src/agent/index.ts'
import type { ProjectConfig } from '../../src/pipeline/settings.ts'
import { readEnvironment } from '../../src/settings/index.ts'
import { callTool, defineTool, openToolbox, type Tool } from '../../src/world/tools/index.ts'
import { tinyModel } from '../sft/support.ts'
import { type Effects, type Flags, outcome, seenBy } from './effects.ts'
import { asked, servers } from './models.ts'
import { corpus, folder, searchTask, signal } from './places.ts'

const quick: Flags = { 'sandbox.driver': 'pyodide', 'tools.cache': '' }

/** A tool called twice, as stages call it: how often it worked, and what it said. */
async function called(config: ProjectConfig): Promise<unknown> {
  const world = await openWorld(config)
  let count = 0
  const tool = defineTool({
    name: 'slow',
    description: 'Says much, after a while.',
    input: z.object({}),
    cacheable: true,
    execute: async () => {
      count++
      await sleep(100)
      return 'much '.repeat(200)
    },
  }) as Tool
  const calls = []
  for (const _ of [1, 2]) {
    const { ok, text } = await callTool(tool, { syntax: 'json', value: {} }, { ...world.calling, retries: 0 })
    calls.push([ok, text])
  }
  await world.close()
  return { calls, count }
}

const toolNames = async (config: ProjectConfig): Promise<unknown> => {
  const world = await openWorld(config)
  const names = (await world.toolsOf(searchTask)).map(({ name }) => name)
  await world.close()
  return names
}

const ownTools = join(folder, 'tools.mjs')
writeFileSync(
  ownTools,
  `export const own = {
    name: 'own_tool', description: 'Mine.', payload: { syntax: 'text' }, input: { safeParse: (data) => ({ success: true, data }) },
    fromPayload: (payload) => payload, cacheable: false, execute: async () => ({ text: 'x' }),
  }`,
)
const mcpServer = { command: [process.execPath, join(import.meta.dirname, '../tools/mcp-server.ts')] }

const site = createServer((_, response) => response.end('<html><body><p>A page of mine.</p></body></html>'))
await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
afterAll(() => void site.close())
const host = `127.0.0.1:${(site.address() as AddressInfo).port}`

/** What search and page reading give. */
async function found(config: ProjectConfig): Promise<unknown> {
  const toolbox = openToolbox(config, readEnvironment())
  const use = (name: string, input: object): Promise<unknown> =>
    outcome(async () => (await (await toolbox.open(name)).execute(input, { signal })).text)
  const seen = [
    await use('web_search', { query: 'light' }),
    await use('crawl_page', { urls: [`http://${host}/`] }),
  ]
  await toolbox.close()
  return seen
}

const sandboxed = async (config: ProjectConfig): Promise<unknown> =>
  outcome(async () => {
    const world = await openWorld(config)
    const drivers = world.check.sandbox!.describe().map(({ driver }) => driver)
    await world.close()
    return drivers
  })

const models = { tiny: await tinyModel(join(folder, 'tiny')), other: await tinyModel(join(folder, 'other')) }

/** The student as it is opened. */
async function opened(config: ProjectConfig): Promise<unknown> {
  return outcome(async () => {
    const { engine, folder: from } = await openStudent(config)
    const { driver, device, trainedParameters } = engine.describe()
    await engine.close()
    return { from, driver, device, trainedParameters }
  })
}
const served: Flags = { 'student.model': models.tiny, 'engine.driver': 'openai' }

export const surroundingsEffects: Effects = {
  ...seenBy(
    called,
    { 'tools.cache': join(folder, 'kept') },
    { 'sandbox.driver': 'pyodide' },
    { 'tools.cache': '' },
  ),
  ...seenBy(called, { 'tools.timeout_s': 0.0105, 'tools.output_limit': 300 }, quick),
  ...seenBy(toolNames, { 'tools.own': { files: [ownTools] }, 'tools.mcp': { workshop: mcpServer } }, quick),
  ...seenBy(
    found,
    {
      'tools.allow_hosts': [host],
      'search.provider': 'searxng',
      'search.corpus': join(folder, 'none.db'),
      'search.limit': 1,
    },
    { 'search.corpus': corpus.file },
  ),
  ...seenBy(
    sandboxed,
    { 'sandbox.driver': 'bubblewrap' },
    { 'tools.cache': '' },
    { 'sandbox.driver': 'pyodide' },
  ),
  ...seenBy(
    opened,
    { 'student.lora_rank': 2, 'engine.device': 'wasm', 'engine.threads': 1 },
    { 'student.model': models.tiny },
  ),
  ...seenBy(opened, { 'student.model': models.other }, {}, { 'student.model': models.tiny }),
  ...seenBy(
    opened,
    { 'engine.driver': 'openai' },
    { 'student.model': models.tiny, 'engine.url': servers[0]!.baseUrl },
  ),
  'engine.url': { see: asked(opened), from: servers[0]!.baseUrl, to: servers[1]!.baseUrl, given: served },
  'engine.key_env': {
    see: asked(opened),
    from: 'SETTINGS_KEY_ONE',
    to: 'SETTINGS_KEY_TWO',
    given: { ...served, 'engine.url': servers[0]!.baseUrl },
  },
}
