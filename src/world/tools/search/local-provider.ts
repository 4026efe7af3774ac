import { CoaError, ToolError } from '../../../base/errors/index.ts'
import type { TextDocument, TextIndex, VectorIndex } from '../../../store/index.ts'
import type { Embedder } from '../../models/index.ts'
import { bestWindow } from './best-window.ts'
import { fuseRanks } from './fuse.ts'
import type { SearchHit, SearchProvider } from './provider.ts'

export interface LocalProviderOptions {
  name?: string
  /** Finds by meaning too; both rankings are fused. */
  vectors?: { index: VectorIndex; embedder: Embedder }
}

/** Long documents are shown by the part that fits the query; the whole is there to be read. */
const SNIPPET_CHARACTERS = 1200
/** Ranks beyond this carry next to nothing when they are fused. */
const FUSED_RANKS = 50

/** BM25 over a corpus built with `coa corpus build`, with vectors fused in where it has them. */
export function localProvider(index: TextIndex, options: LocalProviderOptions = {}): SearchProvider {
  const { vectors } = options
  return {
    name: options.name ?? 'the corpus',
    // Only what is in the index: a source that looks like a path never opens a file.
    read: (source) => index.get(source) ?? index.getByUrl(source),
    search: async (query, limit, signal) => {
      const found =
        vectors === undefined
          ? index.search(query, limit)
          : await searchBoth(index, vectors, query, Math.max(limit, FUSED_RANKS), signal)
      return found.slice(0, limit).map(({ id, title, text, url }): SearchHit => {
        return { title, source: url ?? id, snippet: bestWindow(text, query, SNIPPET_CHARACTERS) }
      })
    },
  }
}

async function searchBoth(
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
      passing: CoaError.isInstance(cause) && 'passing' in cause && cause.passing === true,
      ...(fix === undefined ? {} : { fix }),
    })
  })
  const byWords = index.search(query, depth).map(({ id }) => id)
  const byMeaning = vectors.index.search(vector!, depth).map(({ id }) => id)
  return fuseRanks([byWords, byMeaning], (id) => id).flatMap((id) => index.get(id) ?? [])
}
