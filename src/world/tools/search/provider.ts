/** One thing found. */
export interface SearchHit {
  title: string
  /** An address that can be read, or the id of a document. */
  source: string
  snippet: string
}

/** Reads a document by the source of a hit; undefined for one that is not there. */
export type ReadDocument = (source: string) => { title: string; text: string } | undefined

/** Where a search tool gets its hits from. */
export interface SearchProvider {
  name: string
  /** Tells it from others of the same name. Hits of a provider without one are not kept: asking again costs nothing. */
  cacheKey?: string
  search: (query: string, limit: number, signal: AbortSignal) => Promise<SearchHit[]>
  /** The whole document of a hit, where the provider holds it itself. */
  read?: ReadDocument
}
