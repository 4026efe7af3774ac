import { CoaError, ToolError } from '../../../base/errors/index.ts'
import type { TextDocument, TextIndex, VectorIndex } from '../../../store/index.ts'
import type { Embedder } from '../../models/index.ts'
import { bestWindow } from './best-window.ts'
import { fuseRanks } from './fuse.ts'
import type { SearchHit, SearchProvider } from './provider.ts'

export interface LocalProviderOptions {
  name?: string
  /** Adds semantic search; both rankings are fused. */
  vectors?: { index: VectorIndex; embedder: Embedder }
}

/** Long documents are shown as the passage that matches the query; the full text can be read separately. */
const SNIPPET_CHARACTERS = 1200
/** Lower ranks contribute almost nothing to the fusion. */
const FUSED_RANKS = 50

/** BM25 over a corpus built with `coa corpus build`, fused with vector search if it has vectors. */
export function localProvider(index: TextIndex, options: LocalProviderOptions = {}): SearchProvider {
  const { vectors } = options
  return {
    name: options.name ?? 'the corpus',
    // Only documents in the index: a source that looks like a path never opens a file.
    read: (source) => index.get(source) ?? index.getByUrl(source),
    search: async (query, limit, signal) => {
      const found =
        vectors === undefined
          ? index.search(query, limit)
          : await hybridSearch(index, vectors, query, Math.max(limit, FUSED_RANKS), signal)
      return found.slice(0, limit).map(({ id, title, text, url }): SearchHit => {
        return { title, source: url ?? id, snippet: bestWindow(text, query, SNIPPET_CHARACTERS) }
      })
    },
  }
}

async function hybridSearch(
  index: TextIndex,
  vectors: NonNullable<LocalProviderOptions['vectors']>,
  query: string,
  depth: number,
  signal: AbortSignal,
): Promise<TextDocument[]> {
  const [vector] = await vectors.embedder.embed([query], signal).catch((cause: unknown) => {
    signal.throwIfAborted()
    const { message, fix } = cause as CoaError
    throw new ToolError(`the query could not be embedded: ${message}`, {
      cause,
      transient: CoaError.isInstance(cause) && 'transient' in cause && cause.transient === true,
      ...(fix === undefined ? {} : { fix }),
    })
  })
  const byWords = index.search(query, depth).map(({ id }) => id)
  const byMeaning = vectors.index.search(vector!, depth).map(({ id }) => id)
  return fuseRanks([byWords, byMeaning], (id) => id).flatMap((id) => index.get(id) ?? [])
}
