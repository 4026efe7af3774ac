import { type Command, Option } from 'commander'
import pc from 'picocolors'
import { whole } from '../../base/text/index.ts'
import { readLogMap } from '../../logs/index.ts'
import type { Task } from '../../schema/index.ts'
import type { ImportSummary } from '../../stages/capture/index.ts'
import { openRun, type Run } from '../../store/index.ts'
import { exitCodes } from '../exit-codes.ts'
import type { GlobalOptions } from '../globals.ts'
import { interruptible } from '../interrupt.ts'
import { inRun, inTemporaryRun, newRun } from '../new-run.ts'
import { nextLines } from '../next.ts'
import { emit, mark, table } from '../output.ts'
import { showProgress } from '../progress.ts'
import { settingsForRun } from '../run-settings.ts'
import { sanitize } from '../sanitize.ts'
import { shortened, toolLikeLines } from '../tool-like.ts'

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
    .addOption(
      new Option(
        '--map <file>',
        'where things are in logs of your own, as TOML (docs/57-import.md)',
      ).conflicts('format'),
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
          ...(options.format === undefined ? {} : { format: options.format }),
          ...(options.map === undefined ? {} : { map: readLogMap(options.map) }),
        }
        const work = (run: Run) => runStage(importRuns, { run, config, signal, observe }, importing)
        if (dryRun) return { id: 'none', summary: await inTemporaryRun(config, COMMAND, work) }
        using run =
          dir === undefined ? newRun(config, COMMAND) : openRun(dir, { write: true, command: COMMAND })
        return { id: run.id, summary: await inRun(run, dir === undefined, () => work(run)) }
      }).finally(observe.done)
      emit(options, { run: id, dryRun, ...summary }, () => describe(summary, id, dryRun))
      if ((summary.figures['refused'] ?? 0) > 0) process.exitCode = exitCodes.findings.code
    })
}

async function readTasks(from: string, data: string, signal: AbortSignal): Promise<Task[]> {
  const { openTasks } = await import('../../tasks/index.ts')
  const tasks: Task[] = []
  for await (const task of openTasks({ from, data, signal })) tasks.push(task)
  return tasks
}

function describe(
  { figures, formats, agents, tools, unreadable, leftOut, toolLike }: ImportSummary,
  run: string,
  dryRun: boolean,
): string {
  const heads = (...names: string[]): string[] => names.map((name) => pc.dim(name))
  return [
    table(Object.entries(figures).map(([name, count]) => [name, whole(count)])),
    '',
    table([
      heads('format', 'files', 'runs'),
      ...formats.map((row) => [row.format, whole(row.files), whole(row.runs)]),
    ]),
    '',
    table([
      heads('agent', 'turns', 'calls', 'becomes'),
      ...agents.slice(0, 20).map((row) => [sanitize(row.agent), whole(row.turns), whole(row.calls), row.as]),
    ]),
    ...(tools.length === 0
      ? []
      : [
          '',
          table([
            heads('tool', 'calls', 'without result'),
            ...tools.slice(0, 20).map((row) => [row.tool, whole(row.calls), whole(row.unanswered)]),
          ]),
        ]),
    ...(leftOut.length === 0
      ? []
      : [
          '',
          table([
            heads('left out', 'times', 'characters', 'example'),
            ...leftOut
              .slice(0, 15)
              .map((row) => [
                sanitize(row.what),
                whole(row.count),
                whole(row.characters),
                shortened(row.examples[0] ?? ''),
              ]),
          ]),
        ]),
    ...(toolLike.length === 0 ? [] : ['', ...toolLikeLines(toolLike).slice(0, -1)]),
    ...(unreadable.length === 0
      ? []
      : [
          '',
          table([
            heads('not understood', 'records', 'where'),
            ...unreadable
              .slice(0, 15)
              .map((row) => [sanitize(row.what), whole(row.count), pc.dim(row.examples[0] ?? '')]),
          ]),
        ]),
    '',
    `${unreadable.length === 0 ? mark.good : mark.open} ${whole(figures['runs'] ?? 0)} runs`,
    ...(dryRun ? [pc.dim('dry run: nothing was written')] : nextLines([['distill', run]])),
  ].join('\n')
}
