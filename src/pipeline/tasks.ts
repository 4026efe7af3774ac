import { openSandbox } from '../sandbox/index.ts'
import type { Task } from '../schema/index.ts'
import { assertMayBeWritten, levelsOf, openTasks, validateTasks } from '../tasks/index.ts'
import type { StageContext } from './stage.ts'

/** Takes tasks from every source of the settings into the run. */
export async function storeTasks({ run, config, observe, signal }: StageContext): Promise<Task[]> {
  const { suites, count, data, levels } = config.tasks
  const { seed } = config.project
  const tasks: Task[] = []
  for (const from of suites) {
    for await (const task of openTasks({
      from,
      data,
      seed,
      split: 'train',
      limit: count,
      signal,
      ...levelsOf(from, levels),
    })) {
      assertMayBeWritten(task)
      run.append('task', task)
      tasks.push(task)
      observe({ stage: 'tasks', done: tasks.length, total: suites.length * count, unit: 'tasks' })
    }
  }
  return tasks
}

/** Stores tasks, and sees that their checkers can be trusted. */
export async function makeTasks(context: StageContext): Promise<Record<string, number>> {
  const { observe, signal } = context
  const tasks = await storeTasks(context)
  const sandbox = await openSandbox(context.config.sandbox)
  try {
    const report = await validateTasks(tasks, { sandbox, signal, observe, total: tasks.length })
    const accepted = report.suites.reduce((sum, { right }) => sum + right.correct, 0)
    const refused = report.suites.reduce((sum, { wrong }) => sum + wrong.wrong, 0)
    return {
      tasks: tasks.length,
      'gold answers accepted': accepted,
      'wrong ones refused': refused,
      misjudged: report.failed,
    }
  } finally {
    await sandbox.close()
  }
}
