import type { Spotlight } from '../base/progress/index.ts'
import { seedOf } from '../base/random/index.ts'
import type { Task } from '../schema/index.ts'
import type { World } from '../world/index.ts'
import type { Policy, RolloutJob } from './contract.ts'
import { rolloutSettings } from './open-world.ts'
import { rollOutAll } from './roll-out-all.ts'
import { refuseAllFailed, type Score, scoreOf } from './score.ts'
import type { RolloutSection } from './settings.ts'

interface Watching {
  signal: AbortSignal
  spotlight?: Spotlight | undefined
}

/** Evaluates a policy: one greedy rollout per task, or several at the temperature of rollouts. */
export async function measure(
  tasks: readonly Task[],
  policy: Policy,
  world: World,
  config: { rollout: RolloutSection },
  { signal, spotlight, samples = 1 }: Watching & { samples?: number },
): Promise<Score> {
  const jobs = tasks.flatMap((task) =>
    Array.from({ length: samples }, (_, sample): RolloutJob => {
      const seed = sample === 0 ? seedOf('measure', task.id) : seedOf('measure', task.id, sample)
      return { task, id: sample === 0 ? task.id : `${task.id}#${sample}`, groupId: task.id, seed }
    }),
  )
  const settings = { ...rolloutSettings(config), ...(samples === 1 ? { temperature: 0 } : {}) }
  const { concurrency } = config.rollout
  const rollouts = await rollOutAll(jobs, policy, world, settings, { concurrency, signal, spotlight })
  refuseAllFailed(rollouts)
  return scoreOf(rollouts)
}
