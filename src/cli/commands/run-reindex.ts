import type { Command } from 'commander'
import { type ReindexResult, reindex } from '../../store/index.ts'
import { findRun } from '../find-run.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { emit, mark } from '../output.ts'
import { showProgress } from '../progress.ts'

export function registerRunReindex(parent: Command): void {
  parent
    .command('reindex')
    .argument('<run>', 'id or path of a run, or "latest"')
    .description('rebuild index.sqlite from events.jsonl')
    .addHelpText('after', '\nExample:\n  $ coa run reindex latest')
    .action((name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const observe = showProgress()
      const result = reindex(findRun(settings(options).config.project.runs, name), {
        onProgress: ({ bytes, totalBytes }) =>
          observe({ stage: 'reindex', done: bytes, total: totalBytes, unit: 'bytes' }),
      })
      observe.done()
      emit(options, result, () => describe(result))
    })
}

function describe({ lines, damagedLines, counts }: ReindexResult): string {
  const records = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`)
  const damage = damagedLines === 0 ? '' : `, ${damagedLines} of them damaged and skipped`
  return `${damagedLines === 0 ? mark.good : mark.open} ${lines} lines read${damage}; records: ${records.join(', ') || 'none'}`
}
