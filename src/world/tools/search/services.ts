import { z } from 'zod'
import type { SearchHit } from './provider.ts'

export interface LiveService {
  /** Environment variable with the API key, or the URL for a service without one. */
  variable: string
  /** Undefined if the variable holds the URL. */
  endpoint?: string
  /** Maximum number of hits per request. */
  maxHits: number
  /** Maximum number of characters in a query. */
  maxQueryCharacters: number
  request: (to: { endpoint: string; key: string }, query: string, limit: number) => [string, RequestInit?]
  hits: z.ZodType<SearchHit[]>
  /** What to check if it rejects the request. */
  rejectionFix: string
}

const text = z.string().catch('')

/** The result format of SearXNG and Tavily. */
const results = z
  .object({ results: z.array(z.object({ title: text, url: z.string(), content: text })) })
  .transform((answer): SearchHit[] =>
    answer.results.map(({ title, url, content }) => ({ title, source: url, snippet: content })),
  )

/** The supported services: request and response format of each. */
export const services: Record<string, LiveService> = {
  searxng: {
    variable: 'SEARXNG_URL',
    maxHits: 50,
    maxQueryCharacters: 1000,
    request: ({ endpoint }, query) => [
      `${endpoint.replace(/\/$/, '')}/search?format=json&q=${encodeURIComponent(query)}`,
    ],
    hits: results,
    rejectionFix:
      'Enable the json format in its settings.yml (search.formats), and allow this client in its limiter.',
  },
  serper: {
    variable: 'SERPER_API_KEY',
    endpoint: 'https://google.serper.dev/search',
    maxHits: 100,
    maxQueryCharacters: 1000,
    request: ({ endpoint, key }, query, limit) => [
      endpoint,
      post({ 'X-API-KEY': key }, { q: query, num: limit }),
    ],
    hits: z
      .object({ organic: z.array(z.object({ title: text, link: z.string(), snippet: text })).default([]) })
      .transform(({ organic }) =>
        organic.map(({ title, link, snippet }) => ({ title, source: link, snippet })),
      ),
    rejectionFix: 'Check the key in SERPER_API_KEY and that it has credits.',
  },
  brave: {
    variable: 'BRAVE_API_KEY',
    endpoint: 'https://api.search.brave.com/res/v1/web/search',
    maxHits: 20,
    maxQueryCharacters: 400,
    request: ({ endpoint, key }, query, limit) => [
      `${endpoint}?count=${limit}&text_decorations=false&q=${encodeURIComponent(query)}`,
      { headers: { 'X-Subscription-Token': key, Accept: 'application/json' } },
    ],
    hits: z
      .object({
        web: z
          .object({ results: z.array(z.object({ title: text, url: z.string(), description: text })) })
          .default({ results: [] }),
      })
      .transform(({ web }) =>
        web.results.map(({ title, url, description }) => ({ title, source: url, snippet: description })),
      ),
    rejectionFix: 'Check the key in BRAVE_API_KEY and its plan.',
  },
  tavily: {
    variable: 'TAVILY_API_KEY',
    endpoint: 'https://api.tavily.com/search',
    maxHits: 20,
    maxQueryCharacters: 400,
    request: ({ endpoint, key }, query, limit) => [
      endpoint,
      post({ Authorization: `Bearer ${key}` }, { query, max_results: limit }),
    ],
    hits: results,
    rejectionFix: 'Check the key in TAVILY_API_KEY and that it has credits.',
  },
}

function post(headers: Record<string, string>, body: unknown): RequestInit {
  return {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  }
}
