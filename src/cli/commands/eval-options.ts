import type { Command } from 'commander'
import { UsageError } from '../../base/errors/index.ts'
import type { Task } from '../../schema/index.ts'
import { addSourceOptions, readSourceTasks, type SourceOptions } from './tasks-options.ts'

/** Options that `coa eval` and `coa compare` share. */
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
    .option('--attempts <count>', 'of each solver at each task (default: eval.attempts)')
    .option('--concurrency <count>', 'attempts at the same time (default: eval.concurrency)')
    .option('--temperature <number>', 'of models (default: 0 for one attempt, else rollout.temperature)')
    .option(
      '--picker <name>',
      'majority, verifier or judge: who chooses one of several answers (default: eval.picker)',
    )
    .option('--shard <part>', 'only a part of the tasks, such as 2/4; join the parts with `coa eval --merge`')
    .option(
      '--run <name>',
      'the run to write to or to go on with (default: one that belongs to this command)',
    )
    .option('--fresh', 'a new run, although this command has one')
}

/** The settings that the options stand for. */
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

/** The tasks of all named sources: of split test where nothing else is said, or of dev where a source has no other. */
export async function readEvalTasks(sources: readonly string[], options: SourceOptions): Promise<Task[]> {
  if (sources.length === 0)
    throw new UsageError('no tasks are named', { fix: 'Name suites, such as `coa eval math search`.' })
  const tasks: Task[] = []
  for (const from of sources) tasks.push(...(await readSourceTasks(from, options, ['test', 'dev'])))
  return tasks
}
