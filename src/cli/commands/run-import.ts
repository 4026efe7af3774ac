import { Argument, type Command } from 'commander'
import { type RecordKind, recordKinds } from '../../schema/index.ts'
import { importParquet, openRun } from '../../store/index.ts'
import { findRun } from '../find-run.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { interruptible } from '../interrupt.ts'
import { emit, mark } from '../output.ts'
import { showProgress } from '../progress.ts'

export function registerRunImport(parent: Command): void {
  parent
    .command('import')
    .argument('<run>', 'id or path of a run, or "latest"')
    .addArgument(new Argument('<kind>', 'kind of records').choices(recordKinds))
    .argument('<file>', 'Parquet file to read')
    .description('import records from a Parquet file into a run, replacing records with the same id')
    .addHelpText('after', '\nExample:\n  $ coa run import latest task tasks.parquet')
    .action(async (name: string, kind: RecordKind, file: string, _options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const dir = findRun(settings(options).config.project.runs, name)
      using run = openRun(dir, { write: true, command: `coa run import ${kind}` })
      const observe = showProgress()
      const records = await interruptible(async (signal) => {
        let count = 0
        for await (const record of importParquet(file, kind)) {
          signal.throwIfAborted()
          // Importing again after an interruption adds only missing records.
          if (JSON.stringify(run.get(kind, record.id)) !== JSON.stringify(record)) run.append(kind, record)
          observe({ stage: 'import', done: ++count, unit: 'records' })
        }
        return count
      })
      observe.done()
      emit(
        options,
        { run: run.id, kind, file, records },
        () => `${mark.good} ${records} ${kind} records from ${file}`,
      )
    })
}
