import { type TextDocument, TextIndex } from '../../../../store/index.ts'
import type { SearchProvider } from '../../../../world/tools/index.ts'
import type { Library } from './library.ts'
import { pageText } from './pages.ts'

/** Only the first lines of a page: the rest has to be read. */
const SNIPPET_CHARACTERS = 160

/** Full-text search over an encyclopedia, with page URLs under `origin`. The index is in memory. */
export function worldProvider(library: Library, origin: string): SearchProvider & { close: () => void } {
  const index = new TextIndex(':memory:')
  const documents = library.pages.map((page) => ({
    id: page.path,
    title: page.title,
    text: pageText(page),
    url: origin + page.path,
  }))
  index.add(documents)
  const byTitle = new Map(documents.map((document) => [nameOf(document.title), document]))
  return {
    name: 'the encyclopedia',
    search: async (query, limit) =>
      withNamed(byTitle.get(nameOf(query)), index.search(query, limit), limit).map(
        ({ title, text, url }) => ({
          title,
          source: url!,
          snippet: text.length > SNIPPET_CHARACTERS ? `${text.slice(0, SNIPPET_CHARACTERS)}…` : text,
        }),
      ),
    close: () => index.close(),
  }
}

const nameOf = (text: string): string => text.trim().toLowerCase()

/** If the query is a title, that page comes first, not the one that mentions it most often. */
function withNamed(named: TextDocument | undefined, found: TextDocument[], limit: number): TextDocument[] {
  if (named === undefined) return found
  return [named, ...found.filter(({ id }) => id !== named.id)].slice(0, limit)
}
