import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TextIndex, VectorIndex } from '../../../store/index.ts'
import { callTool } from '../call-tool.ts'
import { ToolCache } from '../tool-cache.ts'
import { bestWindow } from './best-window.ts'
import { liveProvider, liveProviderNames } from './live-providers.ts'
import { localProvider } from './local-provider.ts'
import { searchTool } from './search-tool.ts'

interface Seen {
  url: URL
  method: string
  headers: IncomingMessage['headers']
  body: string
}

let server: Server
let origin: string
let seen: Seen[]
let answer: (response: ServerResponse) => void
beforeEach(async () => {
  seen = []
  server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    seen.push({ url: new URL(request.url!, origin), method: request.method!, headers: request.headers, body })
    answer(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

const json = (value: unknown) => (response: ServerResponse) =>
  response.setHeader('content-type', 'application/json').end(JSON.stringify(value))
const query = (text: string) => ({ syntax: 'text' as const, text })

/** Responses in the documented formats, including fields we do not use. */
const shapes: Record<string, { variable: string; answer: unknown; check: (request: Seen) => void }> = {
  searxng: {
    variable: 'SEARXNG_URL',
    answer: {
      query: 'q',
      number_of_results: 0,
      results: [
        {
          url: 'https://a.example/',
          title: 'A',
          content: 'first',
          engine: 'x',
          score: 1,
          publishedDate: null,
        },
        { url: 'https://b.example/', title: 'B', engine: 'x', content: null },
      ],
      answers: [],
      infoboxes: [],
      suggestions: [],
      unresponsive_engines: [],
    },
    check: ({ url, method }) => {
      expect(method).toBe('GET')
      expect(url.pathname).toBe('/search')
      expect(Object.fromEntries(url.searchParams)).toEqual({ format: 'json', q: 'light & dark' })
    },
  },
  serper: {
    variable: 'SERPER_API_KEY',
    answer: {
      searchParameters: { q: 'q', type: 'search' },
      organic: [
        { title: 'A', link: 'https://a.example/', snippet: 'first', position: 1 },
        { title: 'B', link: 'https://b.example/', position: 2 },
      ],
      relatedSearches: [],
      credits: 1,
    },
    check: ({ method, headers, body }) => {
      expect(method).toBe('POST')
      expect(headers['x-api-key']).toBe('secret')
      expect(JSON.parse(body)).toMatchObject({ q: 'light & dark' })
    },
  },
  brave: {
    variable: 'BRAVE_API_KEY',
    answer: {
      type: 'search',
      query: { original: 'q' },
      web: {
        type: 'search',
        results: [
          { type: 'search_result', title: 'A', url: 'https://a.example/', description: 'first', age: 'x' },
          { type: 'search_result', title: 'B', url: 'https://b.example/' },
        ],
      },
    },
    check: ({ url, headers }) => {
      expect(headers['x-subscription-token']).toBe('secret')
      expect(url.searchParams.get('q')).toBe('light & dark')
      expect(Number(url.searchParams.get('count'))).toBeLessThanOrEqual(20)
    },
  },
  tavily: {
    variable: 'TAVILY_API_KEY',
    answer: {
      query: 'q',
      answer: null,
      images: [],
      results: [
        { title: 'A', url: 'https://a.example/', content: 'first', score: 0.9, raw_content: null },
        { title: 'B', url: 'https://b.example/', score: 0.1 },
      ],
      response_time: 1.2,
    },
    check: ({ method, headers, body }) => {
      expect(method).toBe('POST')
      expect(headers.authorization).toBe('Bearer secret')
      expect(JSON.parse(body)).toMatchObject({ query: 'light & dark' })
    },
  },
}

function provider(name: string) {
  const { variable } = shapes[name]!
  if (name === 'searxng') return liveProvider(name, { [variable]: `${origin}/` })
  return liveProvider(name, { [variable]: 'secret' }, { endpoint: `${origin}/api` })
}

describe.each(liveProviderNames)('%s', (name) => {
  it('sends the documented request and parses the response', async () => {
    answer = json(shapes[name]!.answer)
    const hits = await provider(name).search('light & dark', 30, AbortSignal.timeout(5000))
    expect(hits).toEqual([
      { title: 'A', source: 'https://a.example/', snippet: 'first' },
      { title: 'B', source: 'https://b.example/', snippet: '' },
    ])
    shapes[name]!.check(seen[0]!)
  })

  it('is retried if busy, but not if it rejects the request', async () => {
    let visits = 0
    answer = (response) => {
      if (++visits === 1) response.writeHead(429).end()
      else json(shapes[name]!.answer)(response)
    }
    const tool = searchTool({ provider: provider(name) })
    expect(await callTool(tool, query('q'))).toMatchObject({ ok: true, attempts: 2 })
    answer = (response) => response.writeHead(403).end()
    expect(await callTool(tool, query('q'))).toMatchObject({
      ok: false,
      attempts: 1,
      fix: expect.any(String),
    })
  })

  it('reports an unexpected response', async () => {
    const tool = searchTool({ provider: provider(name) })
    answer = json({ results: 'none', organic: 3, web: 3 })
    expect((await callTool(tool, query('q'))).text).toContain('unexpected response')
    answer = (response) => response.end('<html>')
    expect((await callTool(tool, query('q'))).text).toContain('unexpected response')
  })

  it('requires its environment variable, and does not follow redirects with the key', async () => {
    expect(() => liveProvider(name, {})).toThrow(shapes[name]!.variable)
    answer = (response) => response.writeHead(302, { location: `${origin}/elsewhere` }).end()
    expect((await callTool(searchTool({ provider: provider(name) }), query('q'), { retries: 0 })).ok).toBe(
      false,
    )
    expect(seen).toHaveLength(1)
  })
})

describe('searchTool', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'coa-search-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const fixed = (name: string, cacheKey: string | undefined, sources: string[]) => ({
    name,
    ...(cacheKey === undefined ? {} : { cacheKey }),
    search: async (_: string, limit: number) =>
      sources.slice(0, limit).map((source) => ({ title: 't', source, snippet: 's' })),
  })

  it('skips benchmark copies and fills up with other hits', async () => {
    const sources = ['https://huggingface.co/x', 'https://a.example/', 'https://b.example/']
    const { provenance } = await callTool(
      searchTool({ provider: fixed('p', 'k', sources), limit: 2 }),
      query('q'),
    )
    expect(provenance['sources']).toEqual(['https://a.example/', 'https://b.example/'])
  })

  it('caches per provider, and not for a provider that may change', async () => {
    const cache = new ToolCache(folder)
    const ask = async (...args: Parameters<typeof fixed>) =>
      callTool(searchTool({ provider: fixed(...args) }), query('q'), { cache })
    expect((await ask('p', 'one', ['https://a.example/'])).cached).toBe(false)
    expect((await ask('p', 'one', ['https://a.example/'])).cached).toBe(true)
    expect((await ask('p', 'two', ['https://b.example/'])).cached).toBe(false)
    await ask('corpus', undefined, ['d1'])
    expect(await ask('corpus', undefined, ['d2'])).toMatchObject({
      cached: false,
      provenance: { sources: ['d2'] },
    })
  })
})

describe('localProvider', () => {
  const documents = [
    { id: 'a', title: 'Skarn Light', text: 'The lighthouse burns.' },
    { id: 'b', title: 'Lamp', text: 'A beacon for ships.', url: 'https://b.example/' },
    { id: 'c', title: 'Bread', text: 'Flour and water.' },
  ]
  const meaning: Record<string, number[]> = { a: [1, 0], b: [0.9, 0.1], c: [0, 1] }

  it('searches by words, and also by meaning if there are vectors', async () => {
    using index = new TextIndex(':memory:')
    index.add(documents)
    const signal = AbortSignal.timeout(5000)
    expect((await localProvider(index).search('lighthouse', 5, signal)).map(({ source }) => source)).toEqual([
      'a',
    ])
    using vectors = new VectorIndex(':memory:', { model: 'm' })
    vectors.add(
      ['a', 'b', 'c', 'gone'].map((id) => ({
        id,
        text: id,
        vector: Float32Array.from(meaning[id] ?? [1, 1]),
      })),
    )
    const embedder = { name: 'm', embed: async () => [Float32Array.from([1, 0])] }
    const both = localProvider(index, { vectors: { index: vectors, embedder } })
    const sources = (await both.search('lighthouse', 2, signal)).map(({ source }) => source)
    expect(sources).toEqual(['a', 'https://b.example/'])
    const broken = { name: 'm', embed: async () => Promise.reject(new Error('down')) }
    const failing = localProvider(index, { vectors: { index: vectors, embedder: broken } })
    await expect(failing.search('lighthouse', 2, signal)).rejects.toThrow('could not be embedded: down')
  })
})

describe('bestWindow', () => {
  it('shows the passage that matches the query', () => {
    const text = `${'filler words here. '.repeat(200)}The keeper wrote of 1923.${' more filler.'.repeat(200)}`
    const window = bestWindow(text, 'keeper 1923', 300)
    expect(window).toContain('The keeper wrote of 1923')
    expect(window.startsWith('…')).toBe(true)
  })

  it('is never much longer than requested, and splits no character', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 900 }),
        fc.string({ unit: 'grapheme', maxLength: 20 }),
        fc.integer({ min: 1, max: 300 }),
        (text, words, length) => {
          const window = bestWindow(text, words, length)
          expect(window.length).toBeLessThanOrEqual(Math.max(length, 1) + 3)
          expect(window.isWellFormed()).toBe(true)
        },
      ),
      { numRuns: 2000 },
    )
  })
})
