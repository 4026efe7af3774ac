import type { Command } from 'commander'
import { registerCorpusBuild } from './corpus-build.ts'
import { registerCorpusSearch } from './corpus-search.ts'

export function registerCorpus(program: Command): void {
  const corpus = program.command('corpus').description('documents of your own that agents can search')
  registerCorpusBuild(corpus)
  registerCorpusSearch(corpus)
}
