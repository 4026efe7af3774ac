import type { ProjectConfig } from '../config/index.ts'
import type { Spotlight } from '../observe/index.ts'
import {
  type Policy,
  type RolloutJob,
  rollOutAll,
  rolloutSettings,
  type Score,
  scoreOf,
  seedOf,
  type World,
} from '../rollout/index.ts'
import type { Task } from '../schema/index.ts'
import { levelsOf, openTasks } from '../tasks/index.ts'

/** Tasks that training is measured with: of the same suites and levels, and of a split of their own. */
export async function measuringTasks({ tasks, project }: ProjectConfig): Promise<Task[]> {
  const found: Task[] = []
  if (tasks.dev_count === 0) return found
  for (const from of tasks.suites) {
    const source = { from, data: tasks.data, seed: project.seed, limit: tasks.dev_count }
    for await (const task of openTasks({ ...source, split: 'dev', ...levelsOf(from, tasks.levels) }))
      found.push(task)
  }
  return found
}

/** How well a policy does when it always takes the likeliest token. */
export async function measure(
  tasks: readonly Task[],
  policy: Policy,
  world: World,
  config: ProjectConfig,
  { signal, spotlight }: { signal: AbortSignal; spotlight?: Spotlight | undefined },
): Promise<Score> {
  const jobs = tasks.map(
    (task): RolloutJob => ({ task, id: task.id, groupId: task.id, seed: seedOf('measure', task.id) }),
  )
  const settings = { ...rolloutSettings(config), temperature: 0 }
  const { concurrency } = config.rollout
  return scoreOf(await rollOutAll(jobs, policy, world, settings, { concurrency, signal, spotlight }))
}
