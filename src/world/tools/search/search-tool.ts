import { z } from 'zod'
import type { Tool } from '../contract.ts'
import { benchmarkHosts, isBlockedHost } from '../leak-guard.ts'
import type { SearchHit, SearchProvider } from './provider.ts'

export interface SearchToolOptions {
  provider: SearchProvider
  /** Name of its agent. */
  name?: 'web_search' | 'wiki_search'
  limit?: number
  blockedHosts?: readonly string[]
}

const Input = z.object({ query: z.string().trim().min(1).max(1000) })

/** Extra hits to request, to make up for those on blocked hosts. */
const SPARE_HITS = 5

/** A search agent over any provider. */
export function searchTool(options: SearchToolOptions): Tool<z.infer<typeof Input>> {
  const { provider, name = 'web_search', limit = 5, blockedHosts = benchmarkHosts } = options
  return {
    name,
    description: `Search ${provider.name}. Write one query as you would type it into a search box.`,
    payload: { syntax: 'text' },
    input: Input,
    fromPayload: (payload) => ({ query: payload.syntax === 'text' ? payload.text : '' }),
    cacheable: provider.cacheKey !== undefined,
    cacheScope: () => ({ provider: provider.name, key: provider.cacheKey, limit, blockedHosts }),
    execute: async ({ query }, { signal }) => {
      const found = await provider.search(query, limit + SPARE_HITS, signal)
      const hits = found.filter((hit) => !isBlockedHost(hostOf(hit.source), blockedHosts)).slice(0, limit)
      const provenance = { provider: provider.name, sources: hits.map((hit) => hit.source) }
      return { text: describe(query, hits), provenance }
    },
  }
}

function describe(query: string, hits: readonly SearchHit[]): string {
  if (hits.length === 0) return `Nothing was found for "${query}".`
  return hits
    .map(({ title, source, snippet }, index) => `${index + 1}. ${title} (${source})\n${snippet.trim()}`)
    .join('\n\n')
}

function hostOf(source: string): string {
  return URL.canParse(source) ? new URL(source).hostname : ''
}
