import type { Command } from 'commander'
import pc from 'picocolors'
import { UsageError } from '../../base/errors/index.ts'
import { readEnvironment } from '../../settings/index.ts'
import type { SearchHit } from '../../world/tools/index.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { interruptible } from '../interrupt.ts'
import { harmless } from '../live-text.ts'
import { emit } from '../output.ts'

interface SearchOptions extends GlobalOptions {
  corpus?: string
  limit?: number
}

const SHOWN_CHARACTERS = 300

export function registerCorpusSearch(parent: Command): void {
  parent
    .command('search')
    .argument('<query>', 'words, as you would type them into a search box')
    .description('search a corpus: by words, and by meaning where it has vectors')
    .option('--corpus <file>', 'the corpus (default: search.corpus, corpus.db)')
    .option('-k, --limit <count>', 'how many hits (default: search.limit, 5)', positive)
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

function positive(text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text)
  throw new UsageError(`"${text}" is not a number of hits`, { fix: 'Write digits, such as -k 10.' })
}

function describe(hits: readonly SearchHit[], how: string, ms: number): string {
  const summary = pc.dim(
    `${hits.length} ${hits.length === 1 ? 'hit' : 'hits'} in ${ms.toFixed(1)} ms (${how})`,
  )
  const lines = hits.map(({ title, source, snippet }, index) => {
    const text = harmless(snippet.replaceAll(/\s+/g, ' '))
    const short = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS).toWellFormed()}…` : text
    return `${index + 1}. ${pc.bold(harmless(title))} ${pc.dim(harmless(source))}\n   ${short}`
  })
  return [...lines, '', hits.length === 0 ? `nothing found; ${summary}` : summary].join('\n').trimStart()
}
