import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callTool } from '../../../world/tools/index.ts'
import { serveWorld, type WorldServer } from './encyclopedia/serve.ts'
import { worldTools } from './tools.ts'

describe('worldTools', () => {
  let server: WorldServer
  beforeAll(async () => {
    server = await serveWorld()
  })
  afterAll(() => server.close())

  const read = async (...paths: string[]) => {
    const tool = worldTools(server).find(({ name }) => name === 'crawl_page')!
    return callTool(tool, { syntax: 'list', items: paths.map((path) => `http://encyclopedia.test${path}`) })
  }

  it('never reveals the actual host, not even if a page is missing', async () => {
    const existing = server.library.pages[0]!.path
    const results = [
      await read(existing),
      await read(existing, '/wiki/No_Such_Page'),
      await read('/wiki/No_Such_Page'),
    ]
    expect(results.map(({ ok }) => ok)).toEqual([true, true, false])
    expect(results[2]!.text).toContain('encyclopedia.test answered with status 404')
    for (const { text } of results) {
      expect(text).toContain('encyclopedia.test')
      expect(text).not.toContain('127.0.0.1')
    }
  })
})
