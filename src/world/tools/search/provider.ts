/** A search result. */
export interface SearchHit {
  title: string
  /** A URL or the id of a document. */
  source: string
  snippet: string
}

/** Reads a document by the source of a hit; undefined if it does not exist. */
export type ReadDocument = (source: string) => { title: string; text: string } | undefined

/** A source of search results. */
export interface SearchProvider {
  name: string
  /**
   * Distinguishes providers of the same name. Results of a provider without one are not cached, because searching
   * again is cheap.
   */
  cacheKey?: string
  search: (query: string, limit: number, signal: AbortSignal) => Promise<SearchHit[]>
  /** The full document of a hit, if the provider stores it. */
  read?: ReadDocument
}
