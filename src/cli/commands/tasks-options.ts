import { type Command, Option } from 'commander'
import pc from 'picocolors'
import { UsageError } from '../../base/errors/index.ts'
import type { Task } from '../../schema/index.ts'
import type { Split, TaskSource } from '../../tasks/index.ts'
import { type GlobalOptions, settings } from '../globals.ts'

/** Options that say which tasks are meant. */
export interface SourceOptions extends GlobalOptions {
  split?: string
  level?: string
  seed?: string
  first?: string
  number?: string
  format?: string
  map?: string
  checker?: string
  domain?: string
  data?: string
}

/** Of --split and --number. */
const ALL = 'all'

export const sourceArgument = 'a suite or benchmark of `coa tasks list`, or a file'

export function addSourceOptions(command: Command, count: string): Command {
  return command
    .option('-n, --number <count>', 'how many tasks', count)
    .option('--first <index>', 'start at this task, from 0')
    .option('--split <name>', 'only tasks of this split: train, dev or test; or all')
    .option('--level <range>', 'difficulty: one level, or a range such as 2..5')
    .option('--seed <number>', 'of a generated suite (default: project.seed)')
    .option('--format <name>', 'of a file: a benchmark, verl, plain or coa (default: told from its rows)')
    .option('--map <pairs>', 'columns of a plain file, such as question=problem,answer=gold,id=uid')
    .addOption(
      new Option(
        '--checker <name>',
        'how answers of a plain file are checked (default: told from them)',
      ).choices(['exact', 'math', 'judge']),
    )
    .option('--domain <grammar>', 'grammar the tasks of a file are meant for')
    .option('--data <folder>', 'where pulled benchmarks lie (default: tasks.data)')
}

export async function sourceOf(from: string, options: SourceOptions): Promise<TaskSource> {
  const { parseColumnMap, parseLevels, parseSplit, sourceNamed } = await import('../../tasks/index.ts')
  const { config } = settings(options, { 'tasks.data': options.data, 'project.seed': options.seed })
  const { format, domain, checker } = options
  return {
    ...sourceNamed(config, from),
    onNote: tellOnce(),
    ...(format === undefined ? {} : { format }),
    ...(domain === undefined ? {} : { domain }),
    ...(checker === undefined ? {} : { checker: checker as 'exact' | 'math' | 'judge' }),
    ...(options.map === undefined ? {} : { map: parseColumnMap(options.map) }),
    ...(options.split === undefined || options.split === ALL ? {} : { split: parseSplit(options.split) }),
    ...(options.level === undefined ? {} : { levels: parseLevels(options.level) }),
    ...(options.first === undefined ? {} : { first: wholeNumber(options.first, '--first') }),
    ...(options.number === undefined || options.number === ALL
      ? {}
      : { limit: wholeNumber(options.number, '--number') }),
  }
}

/** A source that is read twice is described once. */
function tellOnce(): (note: string) => void {
  const told = new Set<string>()
  return (note) => {
    if (!told.has(note)) process.stderr.write(`${pc.dim(note)}\n`)
    told.add(note)
  }
}

/** The tasks of a source: of the split that was asked for, or else of the first of these that it has. */
export async function readSourceTasks(
  from: string,
  options: SourceOptions,
  splits: readonly Split[],
): Promise<Task[]> {
  const { openTasks } = await import('../../tasks/index.ts')
  const source = await sourceOf(from, options)
  const tasks: Task[] = []
  for (const split of options.split === undefined ? splits : [source.split]) {
    for await (const task of openTasks({ ...source, ...(split === undefined ? {} : { split }) }))
      tasks.push(task)
    if (tasks.length > 0) return tasks
  }
  const asked = options.split ?? splits.join(' or ')
  throw new UsageError(`${from} has no such tasks${asked === ALL ? '' : ` of split ${asked}`}`, {
    fix: 'Try other values of --split, --first and --level; --split all takes every row.',
  })
}

function wholeNumber(text: string, option: string): number {
  const value = Number(text)
  if (text.trim() !== '' && Number.isInteger(value) && value >= 0) return value
  throw new UsageError(`${option} ${text} is not a whole number`, {
    fix: `Write ${option} with a number from 0.`,
  })
}
