import { listOf, pageOf } from './pages.ts'
import type { Surface } from './read-surface.ts'

/** The files that follow from the public exports, by path. */
export function generatedFiles(all: readonly Surface[]): Map<string, string> {
  return new Map([
    ...all.map((surface): [string, string] => [`docs/reference/${surface.page}.md`, pageOf(surface, all)]),
    ['test/repo/public-surface.txt', listOf(all)],
  ])
}
