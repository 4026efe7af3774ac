import { UsageError } from '../base/errors/index.ts'
import type { Observe } from '../base/progress/index.ts'
import type { Split, Task } from '../schema/index.ts'
import type { Run } from '../store/index.ts'
import { configuredSources, suiteName } from './configured-sources.ts'
import { assertMayBeWritten } from './readers/index.ts'
import type { TasksConfig } from './settings.ts'
import { openTasks, type TaskSource } from './task-source.ts'

interface ReadOptions extends Pick<TaskSource, 'onNote' | 'signal' | 'first'> {
  /** No tasks at all are an error. Default: they are. */
  mayBeEmpty?: boolean
  /** Told of each task as it is read. */
  onTask?: (task: Task) => void
}

/** So many tasks of one split from each source of the settings. */
export async function readSplit(
  config: TasksConfig,
  split: Split,
  limit: number,
  { mayBeEmpty = false, onTask, ...options }: ReadOptions = {},
): Promise<Task[]> {
  const tasks: Task[] = []
  if (limit === 0) return tasks
  for (const source of configuredSources(config)) {
    for await (const task of openTasks({ ...source, ...options, split, limit })) {
      tasks.push(task)
      onTask?.(task)
    }
  }
  if (tasks.length > 0 || mayBeEmpty) return tasks
  const names = config.tasks.suites.map(suiteName).join(', ')
  throw new UsageError(`there are no tasks of split ${split} in ${names}`, {
    fix: `Mark rows with "split": "${split}", or name a source of its own in [tasks]: { from = "FILE", split = "${split}" }.`,
  })
}

/** The tasks the team works on. */
export function trainingTasks({
  config,
  observe,
  signal,
  onFinding,
}: {
  config: TasksConfig
  observe: Observe
  signal: AbortSignal
  onFinding?: (text: string) => void
}): Promise<Task[]> {
  const { suites, count } = config.tasks
  let done = 0
  return readSplit(config, 'train', count, {
    signal,
    ...(onFinding === undefined ? {} : { onNote: onFinding }),
    onTask: (task) => {
      assertMayBeWritten(task)
      observe({ stage: 'tasks', done: ++done, total: suites.length * count, unit: 'tasks' })
    },
  })
}

/** Tasks to practise on, `limit` of each source: those after the team's, or else all it has once more. */
export async function tasksToPractise(config: TasksConfig, limit: number): Promise<Task[]> {
  const { suites, count } = config.tasks
  const tasks: Task[] = []
  for (const suite of suites) {
    const one = { ...config, tasks: { ...config.tasks, suites: [suite] } }
    const next = await readSplit(one, 'train', limit, { first: count, mayBeEmpty: true })
    tasks.push(...(next.length > 0 ? next : await readSplit(one, 'train', limit, { mayBeEmpty: true })))
  }
  return tasks
}

/** Tasks that training is measured with: of the same sources, and of a split of their own. */
export function measuringTasks(config: TasksConfig): Promise<Task[]> {
  return readSplit(config, 'dev', config.tasks.dev_count)
}

/** Of split test, which nothing is trained on and nothing is chosen by. */
export function heldOutTasks(config: TasksConfig): Promise<Task[]> {
  return readSplit(config, 'test', config.tasks.test_count)
}

/** All questions of a run that a model may have learned from: its tasks, and its sequences, which may come without. */
export function* trainedOn(run: Pick<Run, 'scan'>): Generator<{ id: string; question: string }> {
  for (const { id, question, meta } of run.scan('task')) if (meta['for'] !== 'eval') yield { id, question }
  for (const { id, prompt } of run.scan('sequence')) {
    const question = prompt.findLast(({ role }) => role === 'user')?.content
    if (question !== undefined) yield { id, question }
  }
}
