import type { Task } from '../schema/index.ts'
import { assertMayBeWritten, refuseOverlap, validateTasks } from '../tasks/index.ts'
import { openSandbox } from '../world/sandbox/index.ts'
import { settingsTasks } from './practice-tasks.ts'
import type { StageContext } from './stage.ts'
import { heldOutTasks, measuringTasks, readSplit } from './task-sets.ts'

/** The tasks a team is taught with, from every source of the settings. */
export function trainingTasks({
  config,
  observe,
  signal,
  onFinding,
}: Omit<StageContext, 'run'>): Promise<Task[]> {
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

/** Stores tasks, and sees that their checkers can be trusted and that none is measured with later. */
export async function makeTasks(context: StageContext): Promise<Record<string, number>> {
  const { run, observe, signal, config } = context
  const tasks = await trainingTasks(context)
  const heldOut = [...(await measuringTasks(config)), ...(await heldOutTasks(config))]
  refuseOverlap([...tasks, ...(await settingsTasks(config))], heldOut)
  for (const task of tasks) run.append('task', task)
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
