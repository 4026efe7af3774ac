import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import pc from 'picocolors'
import { ConfigError } from '../../base/errors/index.ts'
import type { ProjectConfig } from '../../pipeline/settings.ts'
import { readEnvironment } from '../../settings/index.ts'
import type { Embedder } from '../../world/models/index.ts'
import type { BuildResult } from '../../world/tools/index.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { interruptible } from '../interrupt.ts'
import { nextLines } from '../next.ts'
import { emit, mark } from '../output.ts'
import { showProgress } from '../progress.ts'

interface BuildOptions extends GlobalOptions {
  out?: string
  embed?: boolean
}

export function registerCorpusBuild(parent: Command): void {
  parent
    .command('build')
    .argument('<file...>', '.jsonl (with "text"), .md, .html or .txt files, also as .gz; or folders of them')
    .description('build a search index over documents; files that were indexed before are updated')
    .option('-o, --out <file>', 'corpus file to write (default: search.corpus, corpus.db)')
    .option('--embed', 'also compute vectors for new or changed documents, with the [embedding] model')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa corpus build notes/ manual.html wiki.jsonl.gz',
        '  $ coa corpus build notes/ --embed --set embedding.base_url=http://localhost:8001/v1 --set embedding.model=e5',
      ].join('\n'),
    )
    .action(async (files: string[], _options, command: Command) => {
      const options = command.optsWithGlobals<BuildOptions>()
      const { config } = settings(options, { 'search.corpus': options.out })
      const { buildCorpus, vectorFileOf } = await import('../../world/tools/index.ts')
      const embedder = options.embed === true ? await embedderFor(config) : undefined
      const out = config.search.corpus
      const observe = showProgress()
      const started = performance.now()
      const result = await interruptible((signal) =>
        buildCorpus(out, files, { observe, signal, ...(embedder === undefined ? {} : { embedder }) }),
      ).finally(observe.done)
      const seconds = (performance.now() - started) / 1000
      const changed = result.added + result.changed + result.removed > 0
      const stale = embedder === undefined && changed && existsSync(vectorFileOf(out))
      emit(options, { corpus: out, ...result, seconds }, () => describe(out, result, seconds, stale))
    })
}

async function embedderFor(config: ProjectConfig): Promise<Embedder> {
  const { embedderFromSettings } = await import('../../world/models/index.ts')
  const embedder = embedderFromSettings('embedding', config.embedding, readEnvironment())
  if (embedder !== undefined) return embedder
  throw new ConfigError('--embed needs an embedding model', {
    fix: 'Set embedding.base_url and embedding.model, in coa.toml or with --set.',
  })
}

function describe(out: string, result: BuildResult, seconds: number, stale: boolean): string {
  const { added, changed, unchanged, removed, embedded, problems, skipped } = result
  const count = (number: number): string => number.toLocaleString('en')
  return [
    `${mark.good} ${out}: ${count(result.documents)} documents from ${count(result.files)} files in ${seconds.toFixed(1)} s`,
    `  ${count(added)} added, ${count(changed)} changed, ${count(unchanged)} unchanged, ${count(removed)} removed` +
      (embedded === undefined ? '' : `, ${count(embedded)} embedded`),
    ...problems.map((problem) => `${mark.open} ${problem}`),
    ...(skipped > problems.length
      ? [pc.dim(`  … and ${count(skipped - problems.length)} more skipped`)]
      : []),
    ...(stale ? [`${mark.open} the vectors are out of date; build again with --embed`] : []),
    '',
    ...nextLines([['corpus', 'search', 'some words', '--corpus', out]]),
  ].join('\n')
}
