import type { Spotlight } from '../base/progress/index.ts'
import { seedOf } from '../base/random/index.ts'
import type { Task } from '../schema/index.ts'
import type { World } from '../world/index.ts'
import type { Policy, RolloutJob } from './contract.ts'
import { rolloutSettings } from './open-world.ts'
import { rollOutAll } from './roll-out-all.ts'
import { refuseAllFailed, type Score, scoreOf } from './score.ts'
import type { RolloutSection } from './settings.ts'

/** Evaluates a policy with greedy decoding. */
export async function measure(
  tasks: readonly Task[],
  policy: Policy,
  world: World,
  config: { rollout: RolloutSection },
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
