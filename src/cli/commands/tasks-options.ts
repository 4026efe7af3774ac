import { type Command, Option } from 'commander'
import pc from 'picocolors'
import { UsageError } from '../../base/errors/index.ts'
import type { Task } from '../../schema/index.ts'
import type { Split, TaskSource } from '../../tasks/index.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { wholeNumber } from '../numbers.ts'

/** Options that select tasks. */
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

/** Value of --split and --number. */
const ALL = 'all'

export const sourceArgument = 'a suite or benchmark from `coa tasks list`, or a file'

export function addSourceOptions(command: Command, count: string): Command {
  return command
    .option('-n, --number <count>', 'number of tasks, or all', count)
    .option('--first <index>', 'index of the first task, counted from 0')
    .option('--split <name>', 'split: train, dev, test or all')
    .option('--level <range>', 'difficulty: a level, or a range such as 2..5')
    .option('--seed <number>', 'random seed of a generated suite (default: project.seed)')
    .option('--format <name>', 'format of a file: a benchmark, verl, plain or coa (default: detected)')
    .option('--map <pairs>', 'columns of a plain file, such as question=problem,answer=gold,id=uid')
    .addOption(
      new Option('--checker <name>', 'how to check answers of a plain file (default: detected)').choices([
        'exact',
        'math',
        'judge',
        'none',
      ]),
    )
    .option('--domain <grammar>', 'grammar for the tasks of a file')
    .option('--data <folder>', 'folder of downloaded benchmarks (default: tasks.data)')
}

export async function sourceOf(from: string, options: SourceOptions): Promise<TaskSource> {
  const { parseColumnMap, parseLevels, parseSplit, sourceNamed } = await import('../../tasks/index.ts')
  const { config } = settings(options, { 'tasks.data': options.data, 'project.seed': options.seed })
  const { format, domain, checker } = options
  return {
    ...sourceNamed(config, from),
    onNote: printOnce(),
    ...(format === undefined ? {} : { format }),
    ...(domain === undefined ? {} : { domain }),
    ...(checker === undefined ? {} : { checker: checker as 'exact' | 'math' | 'judge' | 'none' }),
    ...(options.map === undefined ? {} : { map: parseColumnMap(options.map) }),
    ...(options.split === undefined || options.split === ALL ? {} : { split: parseSplit(options.split) }),
    ...(options.level === undefined ? {} : { levels: parseLevels(options.level) }),
    ...(options.first === undefined ? {} : { first: wholeNumber('--first', 0)(options.first) }),
    ...(options.number === undefined || options.number === ALL
      ? {}
      : { limit: wholeNumber('--number', 0)(options.number) }),
  }
}

/** A source may be read twice; its notes are printed once. */
function printOnce(): (note: string) => void {
  const printed = new Set<string>()
  return (note) => {
    if (!printed.has(note)) process.stderr.write(`${pc.dim(note)}\n`)
    printed.add(note)
  }
}

/** The tasks of a source: of the requested split, or of the first of the given splits that has any. */
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
  const split = options.split ?? splits.join(' or ')
  throw new UsageError(`${from} has no such tasks${split === ALL ? '' : ` in split ${split}`}`, {
    fix: 'Try other values of --split, --first and --level; --split all includes every row.',
  })
}
