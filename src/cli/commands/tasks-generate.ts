import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { UsageError } from '../../base/errors/index.ts'
import { Draft, LineWriter } from '../../base/files/index.ts'
import { interruptible } from '../interrupt.ts'
import { emit, jsonText, mark } from '../output.ts'
import { showProgress } from '../progress.ts'
import { addSourceOptions, type SourceOptions, sourceOf } from './tasks-options.ts'

interface GenerateOptions extends SourceOptions {
  out?: string
  force?: boolean
}

export function registerTasksGenerate(parent: Command): void {
  addSourceOptions(
    parent
      .command('generate')
      .argument('<suite>', 'math, search or code; or any other source, to convert it'),
    '100',
  )
    .description('write tasks as JSON lines, to a file or to standard output')
    .option('-o, --out <file>', 'file to write (default: standard output)')
    .option('--force', 'overwrite an existing file')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa tasks generate math -n 1000 --split train -o math.jsonl',
        '  $ coa tasks generate search -n 5 --level 2..3 | head -1',
        '  $ coa tasks generate rows.parquet --format verl -n all -o tasks.jsonl',
      ].join('\n'),
    )
    .action(async (from: string, _options, command: Command) => {
      const options = command.optsWithGlobals<GenerateOptions>()
      const { out } = options
      if (out !== undefined && existsSync(out) && options.force !== true) {
        throw new UsageError(`${out} already exists`, {
          fix: 'Choose another file, or overwrite it with --force.',
        })
      }
      const { assertMayBeWritten, openTasks } = await import('../../tasks/index.ts')
      const source = await sourceOf(from, options)
      const observe = showProgress()
      let tasks = 0
      let skipped = 0
      // Written to a temporary file and renamed, so that the file is always complete.
      const draft = out === undefined ? undefined : new Draft(out)
      const lines = draft && new LineWriter(draft.path)
      try {
        await interruptible(async (signal) => {
          for await (const task of openTasks({ ...source, signal, onProblem: () => skipped++ })) {
            assertMayBeWritten(task)
            const line = `${jsonText(task)}\n`
            if (lines === undefined) process.stdout.write(line)
            else lines.write(line)
            observe({
              stage: 'generate',
              done: ++tasks,
              ...(source.limit === undefined ? {} : { total: source.limit }),
              unit: 'tasks',
            })
          }
        })
        lines?.finish()
        draft?.publish()
      } catch (error) {
        lines?.abandon()
        draft?.discard()
        throw error
      } finally {
        observe.done()
      }
      if (out !== undefined) {
        emit(
          options,
          { file: out, tasks, skipped },
          () =>
            `${mark.good} ${tasks.toLocaleString('en')} tasks in ${out}${skipped === 0 ? '' : `, ${skipped} rows left out`}`,
        )
      }
    })
}
