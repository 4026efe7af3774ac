import { type Command, Option } from 'commander'
import { UsageError } from '../../errors/index.ts'
import type { TaskSource } from '../../tasks/index.ts'
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

export const sourceArgument = 'a suite or benchmark of `coa tasks list`, or a file'

export function addSourceOptions(command: Command, count: string): Command {
  return command
    .option('-n, --number <count>', 'how many tasks', count)
    .option('--first <index>', 'start at this task, from 0')
    .option('--split <name>', 'train, dev or test')
    .option('--level <range>', 'difficulty: one level, or a range such as 2..5')
    .option('--seed <number>', 'of a generated suite (default: project.seed)')
    .option('--format <name>', 'of a file: a benchmark, verl, plain, or coa for tasks as coa writes them')
    .option('--map <pairs>', 'columns of a plain file, such as question=problem,answer=gold,id=uid')
    .addOption(
      new Option('--checker <name>', 'how answers of a plain file are checked').choices([
        'exact',
        'math',
        'judge',
      ]),
    )
    .option('--domain <grammar>', 'grammar the tasks of a file are meant for')
    .option('--data <folder>', 'where pulled benchmarks lie (default: tasks.data)')
}

export async function sourceOf(from: string, options: SourceOptions): Promise<TaskSource> {
  const { parseColumnMap, parseLevels, parseSplit } = await import('../../tasks/index.ts')
  const { config } = settings(options, { 'tasks.data': options.data, 'project.seed': options.seed })
  const { format, domain, checker } = options
  // A column map is only for plain files, so whoever gives one has such a file.
  const chosen = format ?? (options.map === undefined ? undefined : 'plain')
  return {
    from,
    data: config.tasks.data,
    seed: config.project.seed,
    ...(chosen === undefined ? {} : { format: chosen }),
    ...(domain === undefined ? {} : { domain }),
    ...(checker === undefined ? {} : { checker: checker as 'exact' | 'math' | 'judge' }),
    ...(options.map === undefined ? {} : { map: parseColumnMap(options.map) }),
    ...(options.split === undefined ? {} : { split: parseSplit(options.split) }),
    ...(options.level === undefined ? {} : { levels: parseLevels(options.level) }),
    ...(options.first === undefined ? {} : { first: wholeNumber(options.first, '--first') }),
    ...(options.number === undefined || options.number === 'all'
      ? {}
      : { limit: wholeNumber(options.number, '--number') }),
  }
}

function wholeNumber(text: string, option: string): number {
  const value = Number(text)
  if (text.trim() !== '' && Number.isInteger(value) && value >= 0) return value
  throw new UsageError(`${option} ${text} is not a whole number`, {
    fix: `Write ${option} with a number from 0.`,
  })
}
