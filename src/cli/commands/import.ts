import type { Command } from 'commander'
import { readLogMap } from '../../logs/index.ts'
import type { Task } from '../../schema/index.ts'
import { openRun, type Run } from '../../store/index.ts'
import { exitCodes } from '../exit-codes.ts'
import type { GlobalOptions } from '../globals.ts'
import { interruptible } from '../interrupt.ts'
import { inRun, inTemporaryRun, newRun } from '../new-run.ts'
import { emit } from '../output.ts'
import { showProgress } from '../progress.ts'
import { settingsForRun } from '../run-settings.ts'
import { describeImport } from './import-summary.ts'

interface ImportOptions extends GlobalOptions {
  run?: string
  format?: string
  map?: string
  tasks?: string
  strict?: boolean
  dryRun?: boolean
}

const COMMAND = 'coa import'

export function registerImport(program: Command): void {
  program
    .command('import')
    .argument('<logs...>', 'log files: .json, .jsonl or text, also as .gz')
    .description('read logs of your own agents into a run, as if coa had recorded them')
    .option('--run <run>', 'run to add to (default: create a new run)')
    .option('--format <name>', 'format of the logs (default: recognized by their first record)')
    .option(
      '--map <file>',
      'what no format reads: where things are, or other names of fields; TOML (docs/57-import.md)',
    )
    .option(
      '--tasks <source>',
      'tasks with gold answers; a logged run belongs to the one with its id or question',
    )
    .option('--strict', 'do not import runs in which agents wrote what looks like tool output')
    .option('--dry-run', 'report what was understood, but write nothing')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa import logs/*.jsonl',
        '  $ coa import traces.json.gz --tasks questions.jsonl',
        '  $ coa import chats.jsonl --format openai-chat --dry-run',
        '  $ coa import own.jsonl --map map.toml',
      ].join('\n'),
    )
    .action(async (files: string[], _options, command: Command) => {
      const options = command.optsWithGlobals<ImportOptions>()
      const { dir, config } = settingsForRun(options, options.run, { uses: () => ['language', 'tasks'] })
      const dryRun = options.dryRun === true
      const { importRuns, runStage } = await import('../../pipeline/index.ts')
      const observe = showProgress()
      const { id, summary } = await interruptible(async (signal) => {
        const tasks =
          options.tasks === undefined ? [] : await readTasks(options.tasks, config.tasks.data, signal)
        const importing = {
          files,
          tasks,
          strict: options.strict === true,
          reportOnly: dryRun,
          ...(options.format === undefined ? {} : { format: options.format }),
          ...(options.map === undefined ? {} : { map: readLogMap(options.map) }),
        }
        const work = (run: Run) => runStage(importRuns, { run, config, signal, observe }, importing)
        if (dryRun) return { id: 'none', summary: await inTemporaryRun(config, COMMAND, work) }
        using run =
          dir === undefined ? newRun(config, COMMAND) : openRun(dir, { write: true, command: COMMAND })
        return { id: run.id, summary: await inRun(run, dir === undefined, () => work(run)) }
      }).finally(observe.done)
      emit(options, { run: id, dryRun, ...summary }, () => describeImport(summary, id, dryRun))
      const { runs = 0, refused = 0 } = summary.figures
      if (refused > 0 || runs === 0) process.exitCode = exitCodes.findings.code
    })
}

async function readTasks(from: string, data: string, signal: AbortSignal): Promise<Task[]> {
  const { openTasks } = await import('../../tasks/index.ts')
  const tasks: Task[] = []
  for await (const task of openTasks({ from, data, signal })) tasks.push(task)
  return tasks
}
