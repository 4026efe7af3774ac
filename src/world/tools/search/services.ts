import { z } from 'zod'
import type { SearchHit } from './provider.ts'

export interface LiveService {
  /** Variable that holds the key, or the address for a service that needs none. */
  variable: string
  /** Where it is; undefined where the variable says. */
  endpoint?: string
  /** Hits one request may ask for. */
  most: number
  /** Characters a query may have. */
  longestQuery: number
  request: (to: { endpoint: string; key: string }, query: string, limit: number) => [string, RequestInit?]
  hits: z.ZodType<SearchHit[]>
  /** What to look at when it refuses us. */
  refused: string
}

const text = z.string().catch('')

/** Results as SearXNG and Tavily write them. */
const results = z
  .object({ results: z.array(z.object({ title: text, url: z.string(), content: text })) })
  .transform((answer): SearchHit[] =>
    answer.results.map(({ title, url, content }) => ({ title, source: url, snippet: content })),
  )

/** The services we know, each as its request and the shape of its answer. */
export const services: Record<string, LiveService> = {
  searxng: {
    variable: 'SEARXNG_URL',
    most: 50,
    longestQuery: 1000,
    request: ({ endpoint }, query) => [
      `${endpoint.replace(/\/$/, '')}/search?format=json&q=${encodeURIComponent(query)}`,
    ],
    hits: results,
    refused: 'Allow the json format in its settings.yml (search.formats), and this client in its limiter.',
  },
  serper: {
    variable: 'SERPER_API_KEY',
    endpoint: 'https://google.serper.dev/search',
    most: 100,
    longestQuery: 1000,
    request: ({ endpoint, key }, query, limit) => [
      endpoint,
      post({ 'X-API-KEY': key }, { q: query, num: limit }),
    ],
    hits: z
      .object({ organic: z.array(z.object({ title: text, link: z.string(), snippet: text })).default([]) })
      .transform(({ organic }) =>
        organic.map(({ title, link, snippet }) => ({ title, source: link, snippet })),
      ),
    refused: 'Check the key in SERPER_API_KEY and that it has credits.',
  },
  brave: {
    variable: 'BRAVE_API_KEY',
    endpoint: 'https://api.search.brave.com/res/v1/web/search',
    most: 20,
    longestQuery: 400,
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
    refused: 'Check the key in BRAVE_API_KEY and its plan.',
  },
  tavily: {
    variable: 'TAVILY_API_KEY',
    endpoint: 'https://api.tavily.com/search',
    most: 20,
    longestQuery: 400,
    request: ({ endpoint, key }, query, limit) => [
      endpoint,
      post({ Authorization: `Bearer ${key}` }, { query, max_results: limit }),
    ],
    hits: results,
    refused: 'Check the key in TAVILY_API_KEY and that it has credits.',
  },
}

function post(headers: Record<string, string>, body: unknown): RequestInit {
  return {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  }
}
