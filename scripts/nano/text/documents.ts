import { Random } from '../../../src/base/random/index.ts'
import { libraryOf } from '../../../src/tasks/index.ts'
import type { Library } from '../../../src/tasks/suites/search/encyclopedia/library.ts'
import { baseSeed } from '../seeds.ts'
import type { BaseDocument } from './document.ts'
import { readPage } from './pages.ts'
import { followPath, lookUp, samplePath, takeApart } from './paths.ts'
import { writeProgram } from './programs.ts'
import { readResults, SimilarTitles } from './results.ts'
import { readPrinted, sampleStory, tellStory, workSteps } from './stories.ts'
import { listTags } from './tags.ts'

interface WorldPages {
  library: Library
  similar: SimilarTitles
}

/** Document kinds, each repeated by its frequency. */
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
 * Base text documents by index: the same index gives the same document on every machine. They cycle through `worlds`
 * encyclopedias, each of which takes one second and 165 MB to generate.
 */
export function baseDocuments(worlds: number): (index: number) => { kind: Kind; document: BaseDocument } {
  const pagesByWorld = new Map<number, WorldPages>()
  const pagesOf = (world: number): WorldPages => {
    const known = pagesByWorld.get(world)
    if (known !== undefined) return known
    const library = libraryOf(baseSeed(world))
    const pages = { library, similar: new SimilarTitles(library) }
    pagesByWorld.set(world, pages)
    return pages
  }
  const make = (kind: Kind, index: number, random: Random): BaseDocument | undefined => {
    const world = index % worlds
    switch (kind) {
      case 'page':
        return readPage(pagesOf(world).library, random)
      case 'results':
        return readResults(pagesOf(world).library, pagesOf(world).similar, random)
      case 'path':
      case 'look-up': {
        const { library, similar } = pagesOf(world)
        const makeDocument = kind === 'path' ? followPath : lookUp
        return makeDocument(samplePath(world, index, random), library, similar, random)
      }
      case 'apart':
        return takeApart(samplePath(world, index, random), random)
      case 'story':
        return tellStory(sampleStory(world, index, random), random)
      case 'steps':
        return workSteps(sampleStory(world, index, random), random)
      case 'printed':
        return readPrinted(sampleStory(world, index, random), random)
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
