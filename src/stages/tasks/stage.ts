import { whole } from '../../base/text/index.ts'
import {
  heldOutTasks,
  measuringTasks,
  refuseOverlap,
  tasksToPractise,
  trainingTasks,
  validateTasks,
} from '../../tasks/index.ts'
import { type TasksConfig, TasksSection } from '../../tasks/settings.ts'
import { openSandbox } from '../../world/sandbox/index.ts'
import type { SandboxSection } from '../../world/settings.ts'
import type { Stage, StageContext } from '../stage.ts'

/** RL's tasks are read too, to make sure that none of them is an evaluation task. */
type Config = TasksConfig & { sandbox: SandboxSection; rl: { task_count: number } }

/** The first stage: generates or reads the tasks and stores them in the run. */
export const prepareTasks: Stage<Config> = {
  name: 'tasks',
  purpose: 'tasks with checkable answers',
  settings: { tasks: TasksSection },
  reads: [],
  writes: ['task'],
  run: async (context) => ({ figures: await makeTasks(context) }),
  describe: ({ tasks = 0, misjudged = 0 }) =>
    `${whole(tasks)} tasks, ${whole(misjudged)} misjudged by their checkers`,
}

/** Stores tasks, and makes sure that their checkers can be trusted and that none is an evaluation task. */
async function makeTasks(context: StageContext<Config>): Promise<Record<string, number>> {
  const { run, observe, signal, config } = context
  const tasks = await trainingTasks(context)
  const heldOut = [...(await measuringTasks(config)), ...(await heldOutTasks(config))]
  refuseOverlap([...tasks, ...(await tasksToPractise(config, config.rl.task_count))], heldOut)
  for (const task of tasks) run.append('task', task)
  const sandbox = await openSandbox(config.sandbox)
  try {
    const report = await validateTasks(tasks, { sandbox, signal, observe, total: tasks.length })
    const accepted = report.suites.reduce((sum, { right }) => sum + right.correct, 0)
    const refused = report.suites.reduce((sum, { wrong }) => sum + wrong.wrong, 0)
    return {
      tasks: tasks.length,
      'gold answers accepted': accepted,
      'wrong answers rejected': refused,
      misjudged: report.failed,
    }
  } finally {
    await sandbox.close()
  }
}
