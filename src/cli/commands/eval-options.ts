import type { Command } from 'commander'
import { UsageError } from '../../base/errors/index.ts'
import type { Task } from '../../schema/index.ts'
import { addSourceOptions, readSourceTasks, type SourceOptions } from './tasks-options.ts'

/** Options of both `coa eval` and `coa compare`. */
export interface EvalOptions extends SourceOptions {
  attempts?: string
  concurrency?: string
  temperature?: string
  picker?: string
  shard?: string
  run?: string
  fresh?: boolean
}

export function addEvalOptions(command: Command): Command {
  return addSourceOptions(command, '100')
    .option('--attempts <count>', 'attempts per solver and task (default: eval.attempts)')
    .option('--concurrency <count>', 'concurrent attempts (default: eval.concurrency)')
    .option(
      '--temperature <number>',
      'sampling temperature of models (default: 0 for one attempt, otherwise rollout.temperature)',
    )
    .option(
      '--picker <name>',
      'what chooses among several answers: majority, oracle or judge (default: eval.picker)',
    )
    .option('--shard <part>', 'only part of the tasks, such as 2/4; merge the parts with `coa eval --merge`')
    .option('--run <name>', 'run to write to or resume (default: derived from tasks, solvers and settings)')
    .option('--fresh', 'start a new run instead of resuming')
}

/** The settings that these options override. */
export function evalFlags(options: EvalOptions): Record<string, unknown> {
  return {
    'project.seed': options.seed,
    'tasks.data': options.data,
    'eval.attempts': options.attempts,
    'eval.concurrency': options.concurrency,
    'eval.temperature': options.temperature,
    'eval.picker': options.picker,
  }
}

/** The tasks of all sources: by default of split test, or of dev if a source has no test tasks. */
export async function readEvalTasks(sources: readonly string[], options: SourceOptions): Promise<Task[]> {
  if (sources.length === 0)
    throw new UsageError('no tasks given', {
      fix: 'Give at least one suite, such as `coa eval math search`.',
    })
  const tasks: Task[] = []
  for (const from of sources) tasks.push(...(await readSourceTasks(from, options, ['test', 'dev'])))
  return tasks
}

/** Parses a model folder with an optional name, such as "base=models/nano". */
export function parseModel(text: string): { folder: string; name?: string } {
  const named = /^([\w.-]+)=(.+)$/.exec(text)
  return named === null ? { folder: text } : { name: named[1]!, folder: named[2]! }
}
