import { TextIndex } from '../../store/index.ts'
import type { SearchProvider } from '../../tools/index.ts'
import type { Library } from './library.ts'
import { pageText } from './pages.ts'

/** A line or two from the beginning: what stands further down has to be read. */
const SNIPPET_CHARACTERS = 160

/** Full-text search over an encyclopedia, with the pages' addresses under `origin`. The index lies in memory. */
export function worldProvider(library: Library, origin: string): SearchProvider & { close: () => void } {
  const index = new TextIndex(':memory:')
  index.add(
    library.pages.map((page) => ({
      id: page.path,
      title: page.title,
      text: pageText(page),
      url: origin + page.path,
    })),
  )
  return {
    name: 'the encyclopedia',
    search: async (query, limit) =>
      index.search(query, limit).map(({ title, text, url }) => ({
        title,
        source: url!,
        snippet: text.length > SNIPPET_CHARACTERS ? `${text.slice(0, SNIPPET_CHARACTERS)}…` : text,
      })),
    close: () => index.close(),
  }
}
