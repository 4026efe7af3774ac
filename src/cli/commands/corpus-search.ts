import type { Command } from 'commander'
import pc from 'picocolors'

import { readEnvironment } from '../../settings/index.ts'
import type { SearchHit } from '../../world/tools/index.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { interruptible } from '../interrupt.ts'
import { wholeNumber } from '../numbers.ts'
import { emit } from '../output.ts'
import { sanitize } from '../sanitize.ts'

interface SearchOptions extends GlobalOptions {
  corpus?: string
  limit?: number
}

const SHOWN_CHARACTERS = 300

export function registerCorpusSearch(parent: Command): void {
  parent
    .command('search')
    .argument('<query>', 'search terms')
    .description('search a corpus by keywords and, if it has vectors, by meaning')
    .option('--corpus <file>', 'corpus file (default: search.corpus, corpus.db)')
    .option('-k, --limit <count>', 'number of hits (default: search.limit, 5)', wholeNumber('--limit'))
    .addHelpText(
      'after',
      "\nExamples:\n  $ coa corpus search 'electric lighthouse'\n  $ coa corpus search 'electric lighthouse' -k 20 --json",
    )
    .action(async (query: string, _options, command: Command) => {
      const options = command.optsWithGlobals<SearchOptions>()
      const { config } = settings(options, {
        'search.corpus': options.corpus,
        'search.limit': options.limit,
        'search.provider': 'corpus',
      })
      const { openProvider } = await import('../../world/tools/index.ts')
      const opened = openProvider(config, readEnvironment())
      try {
        const started = performance.now()
        const hits = await interruptible((signal) =>
          opened.provider.search(query, config.search.limit, signal),
        )
        const ms = performance.now() - started
        emit(options, { query, corpus: opened.how, ms, hits }, () => describe(hits, opened.how, ms))
      } finally {
        opened.close()
      }
    })
}

function describe(hits: readonly SearchHit[], how: string, ms: number): string {
  const summary = pc.dim(
    `${hits.length} ${hits.length === 1 ? 'hit' : 'hits'} in ${ms.toFixed(1)} ms (${how})`,
  )
  const lines = hits.map(({ title, source, snippet }, index) => {
    const text = sanitize(snippet.replaceAll(/\s+/g, ' '))
    const short = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS).toWellFormed()}…` : text
    return `${index + 1}. ${pc.bold(sanitize(title))} ${pc.dim(sanitize(source))}\n   ${short}`
  })
  return [...lines, '', hits.length === 0 ? `nothing found; ${summary}` : summary].join('\n').trimStart()
}
