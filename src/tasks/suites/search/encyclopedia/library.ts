import { type FactKey, makePages, type Page } from './pages.ts'
import { makeWorld, type World } from './world.ts'

/** A world with its pages and an index of the facts on them. */
export interface Library {
  world: World
  pages: readonly Page[]
  byPath: ReadonlyMap<string, Page>
  /** The numbers of the pages that state a fact. */
  stating: (fact: FactKey) => ReadonlySet<number>
  /** The numbers of the pages that name a thing, including its own. */
  naming: (thing: number) => ReadonlySet<number>
  /** The facts on a page, by page number. */
  factsOn: (page: number) => readonly FactKey[]
}

const libraries = new Map<number, Library>()

/** The encyclopedia of a seed. Cached, because generating it takes about a second. */
export function libraryOf(seed: number): Library {
  const known = libraries.get(seed)
  if (known !== undefined) return known
  const library = makeLibrary(makeWorld(seed))
  libraries.set(seed, library)
  return library
}

function makeLibrary(world: World): Library {
  const pages = makePages(world)
  const byPath = new Map(pages.map((page) => [page.path, page]))
  const titles = new Map(world.things.map(({ title, id }) => [title, id]))
  const stating = new Map<string, Set<number>>()
  const naming = new Map<number, Set<number>>()
  const factsOn: FactKey[][] = []
  const addTo = <K>(map: Map<K, Set<number>>, key: K, page: number): void => {
    const set = map.get(key)
    if (set === undefined) map.set(key, new Set([page]))
    else set.add(page)
  }
  for (const [number, page] of pages.entries()) {
    const facts: FactKey[] = []
    const own = titles.get(page.title)
    if (own !== undefined) addTo(naming, own, number)
    for (const piece of [...page.lead, ...page.sections.flatMap(({ sentences }) => sentences)].flat()) {
      if (typeof piece === 'string') continue
      if (piece.fact !== undefined) {
        facts.push(piece.fact)
        addTo(stating, keyOf(piece.fact), number)
      }
      const target = piece.path === undefined ? undefined : titles.get(byPath.get(piece.path)!.title)
      if (target !== undefined) addTo(naming, target, number)
    }
    factsOn.push(facts)
  }
  const none: ReadonlySet<number> = new Set()
  return {
    world,
    pages,
    byPath,
    stating: (fact) => stating.get(keyOf(fact)) ?? none,
    naming: (thing) => naming.get(thing) ?? none,
    factsOn: (page) => factsOn[page]!,
  }
}

export function keyOf({ thing, relation }: FactKey): string {
  return `${thing} ${relation}`
}
