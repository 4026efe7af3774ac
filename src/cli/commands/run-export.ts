import { Argument, type Command } from 'commander'
import { type RecordKind, recordKinds } from '../../schema/index.ts'
import { exportParquet, openRun } from '../../store/index.ts'
import { findRun } from '../find-run.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { emit, mark } from '../output.ts'
import { showProgress } from '../progress.ts'

export function registerRunExport(parent: Command): void {
  parent
    .command('export')
    .argument('<run>', 'id or path of a run, or "latest"')
    .addArgument(new Argument('<kind>', 'kind of records').choices(recordKinds))
    .argument('<file>', 'Parquet file to write')
    .description('export records of one kind to a Parquet file')
    .addHelpText('after', '\nExample:\n  $ coa run export latest sequence sequences.parquet')
    .action((name: string, kind: RecordKind, file: string, _options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      using run = openRun(findRun(settings(options).config.project.runs, name))
      const observe = showProgress()
      const total = run.count(kind)
      const records = exportParquet(run, kind, file, {
        onProgress: (progress) =>
          observe({ stage: 'export', done: progress.records, total, unit: 'records' }),
      })
      observe.done()
      emit(
        options,
        { run: run.id, kind, file, records },
        () => `${mark.good} ${records} ${kind} records in ${file}`,
      )
    })
}
