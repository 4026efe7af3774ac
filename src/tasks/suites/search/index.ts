import type { Suite } from '../suite.ts'
import { searchExpert } from './expert.ts'
import { searchLevels, searchTask } from './generate.ts'
import { SearchProgram } from './program.ts'
import { openWorldTools } from './tools.ts'

export { libraryOf } from './encyclopedia/library.ts'
export { serveWorld, type WorldServer } from './encyclopedia/serve.ts'
export { worldTools } from './tools.ts'

/** Questions about a generated encyclopedia; `world` is its seed. */
export function searchSuite(world = 1): Suite<SearchProgram> {
  return {
    name: 'search',
    description:
      'questions over a fictional encyclopedia: bridges, comparisons, intersections, counts, years',
    domain: 'web',
    levels: searchLevels,
    program: SearchProgram,
    generate: (request) => searchTask(world, request),
    expert: ({ question }, ...rest) => searchExpert(question, ...rest),
    openTools: openWorldTools,
  }
}
