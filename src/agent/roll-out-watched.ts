import type { Spotlight } from '../base/progress/index.ts'
import type { Rollout } from '../schema/index.ts'
import type { World } from '../world/index.ts'
import type { Policy, RolloutJob, RolloutSettings } from './contract.ts'
import { type RollOutOptions, rollOut } from './roll-out.ts'

export interface WatchOptions {
  signal?: AbortSignal | undefined
  spotlight?: Spotlight | undefined
}

/** A rollout whose text can be shown in the spotlight. */
export async function rollOutWatched(
  job: RolloutJob,
  policy: Policy,
  world: World,
  settings: RolloutSettings,
  { signal, spotlight }: WatchOptions,
): Promise<Rollout> {
  const options: RollOutOptions = signal === undefined ? {} : { signal }
  if (spotlight === undefined) return rollOut(job, policy, world, settings, options)
  const spotted = spotlight.begin(job.task.question)
  try {
    return await rollOut(job, policy, world, settings, { ...options, onText: spotted.text })
  } finally {
    spotted.end()
  }
}
