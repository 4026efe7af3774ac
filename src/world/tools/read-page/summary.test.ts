import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type OpenAiServer, startOpenAiServer } from '../../../testing/openai-server.ts'
import { openModel } from '../../models/index.ts'
import { callTool } from '../call-tool.ts'
import { ToolCache } from '../tool-cache.ts'
import { readPageTool } from './read-page-tool.ts'

let site: Server
let host: string
let model: OpenAiServer
let folder: string
let content = ''
beforeAll(async () => {
  site = createServer((request, response) => {
    if (request.url === '/robots.txt') response.writeHead(404).end()
    else response.setHeader('content-type', 'text/plain').end(content)
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  host = `127.0.0.1:${(site.address() as AddressInfo).port}`
})
afterAll(() => {
  site.closeAllConnections()
  site.close()
})
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coa-summary-'))
  content = 'The lighthouse has burned electric light since 1923.'
})
afterEach(async () => {
  rmSync(folder, { recursive: true })
  await model.close()
})

function read(
  question: string,
  options: { name?: string; path?: string; cache?: ToolCache; summaryMs?: number } = {},
) {
  const { name = 'tiny', path = '/page', cache = new ToolCache(folder), summaryMs } = options
  const tool = readPageTool({
    allowHosts: [host],
    summarizer: openModel({ baseUrl: model.baseUrl, model: name, retries: 0 }),
    ...(summaryMs === undefined ? {} : { summaryMs }),
  })
  const payload = { syntax: 'list' as const, items: [`http://${host}${path}`] }
  return callTool(tool, payload, { question, cache, timeoutMs: 5000 })
}

describe('a page with a summarizer', () => {
  it('is summarized for the question with one call', async () => {
    model = await startOpenAiServer(['<think>hm</think>Evidence: "since 1923".'])
    const result = await read('Since when is the light electric?')
    expect(result).toMatchObject({ ok: true, provenance: { model: 'tiny', summaries: ['made'] } })
    expect(result.text).toContain('Evidence: "since 1923".')
    expect(result.text).not.toContain('hm')
    expect(result.text).not.toContain('burned')
    expect(model.requests).toHaveLength(1)
    const sent = JSON.stringify(model.requests[0]?.body)
    expect(sent).toContain('Since when is the light electric?')
    expect(sent).toContain('burned electric light')
  })

  it('is cached by content, question and model', async () => {
    model = await startOpenAiServer((_, index) => `summary ${index}`)
    expect((await read('q1')).text).toContain('summary 0')
    expect(await read('q1')).toMatchObject({ cached: true })
    // Another URL with the same page: the page is fetched, but the summary is cached.
    expect(await read('q1', { path: '/copy' })).toMatchObject({
      cached: false,
      text: expect.stringContaining('summary 0'),
      provenance: { summaries: ['cached'] },
    })
    expect((await read('q2')).text).toContain('summary 1')
    expect((await read('q1', { name: 'other' })).text).toContain('summary 2')
    content = 'Changed.'
    expect((await read('q1', { path: '/third' })).text).toContain('summary 3')
    expect(model.requests).toHaveLength(4)
  })

  it.each([
    ['fails', { status: 400 }],
    ['is empty', { text: ' ' }],
    ['takes too long', { delayMs: 2000 }],
  ])('is shown as it is if the summary %s, and that is not cached', async (_, reply) => {
    model = await startOpenAiServer([reply, 'in order'])
    expect(await read('q', { summaryMs: 500 })).toMatchObject({
      ok: true,
      text: expect.stringContaining('burned electric light'),
      provenance: { summaries: ['failed'] },
    })
    expect(await read('q')).toMatchObject({ cached: false, text: expect.stringContaining('in order') })
  })
})
