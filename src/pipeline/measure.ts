import {
  type Policy,
  type RolloutJob,
  refuseAllFailed,
  rollOutAll,
  rolloutSettings,
  type Score,
  scoreOf,
  type World,
} from '../agent/index.ts'
import type { Spotlight } from '../base/progress/index.ts'
import { seedOf } from '../base/random/index.ts'
import type { Task } from '../schema/index.ts'
import type { ProjectConfig } from '../settings/index.ts'

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
  const rollouts = await rollOutAll(jobs, policy, world, settings, { concurrency, signal, spotlight })
  refuseAllFailed(rollouts)
  return scoreOf(rollouts)
}
