import type { Command } from 'commander'
import { registerCorpusBuild } from './corpus-build.ts'
import { registerCorpusSearch } from './corpus-search.ts'

export function registerCorpus(program: Command): void {
  const corpus = program.command('corpus').description('index your own documents for the search tools')
  registerCorpusBuild(corpus)
  registerCorpusSearch(corpus)
}
