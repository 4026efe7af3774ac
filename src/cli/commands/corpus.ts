import type { Command } from 'commander'
import { registerCorpusBuild } from './corpus-build.ts'
import { registerCorpusSearch } from './corpus-search.ts'

export function registerCorpus(program: Command): void {
  const corpus = program
    .command('corpus')
    .description('index your own documents for the search tools')
    .addHelpText(
      'after',
      "\nExamples:\n  $ coa corpus build notes/\n  $ coa corpus search 'electric lighthouse'",
    )
  registerCorpusBuild(corpus)
  registerCorpusSearch(corpus)
}
