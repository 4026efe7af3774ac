import { Random } from '../../../src/base/random/index.ts'
import { libraryOf } from '../../../src/tasks/index.ts'
import type { Library } from '../../../src/tasks/suites/search/encyclopedia/library.ts'
import { baseSeed } from '../seeds.ts'
import type { BaseDocument } from './document.ts'
import { readPage } from './pages.ts'
import { drawPath, followPath, lookUp, takeApart } from './paths.ts'
import { writeProgram } from './programs.ts'
import { Neighbours, readResults } from './results.ts'
import { drawStory, readPrinted, tellStory, workSteps } from './stories.ts'
import { listTags } from './tags.ts'

interface Shelf {
  library: Library
  neighbours: Neighbours
}

/** Kinds of documents, each as often as it is listed. */
const kinds = [
  ...repeat('page', 4),
  ...repeat('results', 4),
  ...repeat('path', 3),
  ...repeat('look-up', 10),
  ...repeat('apart', 2),
  ...repeat('story', 5),
  ...repeat('steps', 20),
  ...repeat('printed', 1),
  ...repeat('program', 3),
  ...repeat('tags', 1),
] as const
export type Kind = (typeof kinds)[number]

function repeat<K extends string>(kind: K, times: number): K[] {
  return Array.from({ length: times }, () => kind)
}

/**
 * Documents of base text by their number: the same number gives the same document, on every machine. They are about
 * `worlds` encyclopedias in turn; each takes a second and 165 MB to make.
 */
export function baseDocuments(worlds: number): (index: number) => { kind: Kind; document: BaseDocument } {
  const shelves = new Map<number, Shelf>()
  const shelfOf = (world: number): Shelf => {
    const known = shelves.get(world)
    if (known !== undefined) return known
    const library = libraryOf(baseSeed(world))
    const shelf = { library, neighbours: new Neighbours(library) }
    shelves.set(world, shelf)
    return shelf
  }
  const make = (kind: Kind, index: number, random: Random): BaseDocument | undefined => {
    const world = index % worlds
    switch (kind) {
      case 'page':
        return readPage(shelfOf(world).library, random)
      case 'results':
        return readResults(shelfOf(world).library, shelfOf(world).neighbours, random)
      case 'path':
      case 'look-up': {
        const { library, neighbours } = shelfOf(world)
        const tell = kind === 'path' ? followPath : lookUp
        return tell(drawPath(world, index, random), library, neighbours, random)
      }
      case 'apart':
        return takeApart(drawPath(world, index, random), random)
      case 'story':
        return tellStory(drawStory(world, index, random), random)
      case 'steps':
        return workSteps(drawStory(world, index, random), random)
      case 'printed':
        return readPrinted(drawStory(world, index, random), random)
      case 'program':
        return writeProgram(world, index, random)
      case 'tags':
        return listTags(random)
    }
  }
  return (index) => {
    const random = new Random('base text', baseSeed(index))
    for (;;) {
      const kind = random.pick(kinds)
      const document = make(kind, index, random)
      if (document !== undefined) return { kind, document }
    }
  }
}
