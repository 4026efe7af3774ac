import type { Random } from '../../../src/base/random/index.ts'
import type { Library } from '../../../src/tasks/suites/search/encyclopedia/library.ts'
import { type Page, pageText } from '../../../src/tasks/suites/search/encyclopedia/pages.ts'
import { type BaseDocument, given, learned, type Part } from './document.ts'
import { asked, factsOf, ORIGIN } from './pages.ts'

/** As in the search over the encyclopedia. */
const SNIPPET_CHARACTERS = 160

/** Pages indexed by the words of their titles: those that a search for one of them would also find. */
export class SimilarTitles {
  readonly #library: Library
  readonly #byWord = new Map<string, Page[]>()

  constructor(library: Library) {
    this.#library = library
    for (const page of library.pages)
      for (const word of wordsOf(page.title)) {
        const known = this.#byWord.get(word)
        if (known === undefined) this.#byWord.set(word, [page])
        else known.push(page)
      }
  }

  of(page: Page, count: number, random: Random): Page[] {
    const found = new Set<Page>()
    for (let tries = 0; found.size < count && tries < 4 * count; tries++) {
      const alike = this.#byWord.get(random.pick(wordsOf(page.title)))!
      const other = random.pick(random.chance(0.8) ? alike : this.#library.pages)
      if (other !== page) found.add(other)
    }
    return [...found]
  }
}

const wordsOf = (title: string): string[] => title.split(' ')

export function snippetOf(page: Page): string {
  const text = pageText(page)
  return text.length > SNIPPET_CHARACTERS ? `${text.slice(0, SNIPPET_CHARACTERS)}…` : text
}

/** A list of search results with questions about its entries. */
export function readResults(library: Library, similar: SimilarTitles, random: Random): BaseDocument {
  const page = random.pick(library.pages)
  const others = similar.of(page, random.int(0, 4), random)
  // The page searched for usually comes first.
  const hits = random.chance(0.7) ? [page, ...others] : random.shuffle([page, ...others])
  const snippets = hits.map(snippetOf)
  const shown = hits.map(
    ({ title, path }, index) => `${index + 1}. ${title} (${ORIGIN}${path})\n${snippets[index]!.trim()}`,
  )
  const parts: Part[] = [given(`Results for ${page.title}:\n${shown.join('\n\n')}\n`)]
  for (let count = random.int(2, 5); count > 0; count--) {
    const place = random.int(0, hits.length - 1)
    const { title, path } = hits[place]!
    const facts = factsOf(library, hits[place]!).filter(({ sentence }) => snippets[place]!.includes(sentence))
    const ways: (() => Part[])[] = [
      () => [given(`\nAddress of ${title}:`), learned(` ${ORIGIN}${path}`)],
      () => [given(`\nThe page about ${title} is`), learned(` ${ORIGIN}${path}`)],
      () => [given(`\nNumber of ${title}:`), learned(` ${place + 1}`)],
      () => [given(`\nTitle of number ${place + 1}:`), learned(` ${title}`)],
      () => [given('\nTitles:'), learned(` ${hits.map((hit) => hit.title).join('; ')}`)],
      ...facts.slice(0, 3).map((fact) => () => asked(random, fact)),
      () => presence(library, random, hits, title),
    ]
    parts.push(...random.pick(ways)())
  }
  return parts
}

/** Whether an entry exists: half of the names are not in the list. */
function presence(library: Library, random: Random, hits: readonly Page[], title: string): Part[] {
  const wanted = random.chance(0.5) ? title : random.pick(library.pages).title
  const place = hits.findIndex((hit) => hit.title === wanted)
  return [
    given(`\nIs ${wanted} here?`),
    learned(place < 0 ? ' No, it is not.' : ` Yes, it is number ${place + 1}.`),
  ]
}
