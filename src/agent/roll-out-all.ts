import { inParallel } from '../base/concurrency/index.ts'
import type { Spotlight } from '../base/progress/index.ts'
import type { Rollout } from '../schema/index.ts'
import type { World } from '../world/index.ts'
import type { Policy, RolloutJob, RolloutSettings } from './contract.ts'
import { rollOutWatched } from './roll-out.ts'

export interface RollOutAllOptions {
  concurrency: number
  signal?: AbortSignal
  spotlight?: Spotlight | undefined
  /** Called for each rollout when it is done. */
  onRollout?: (rollout: Rollout) => void
}

/** Runs many rollouts with limited concurrency; results are in the order of the jobs. */
export async function rollOutAll(
  jobs: readonly RolloutJob[],
  policy: Policy,
  world: World,
  settings: RolloutSettings,
  { concurrency, signal, spotlight, onRollout }: RollOutAllOptions,
): Promise<Rollout[]> {
  const rollouts: Rollout[] = []
  await inParallel([...jobs.entries()], concurrency, async ([at, job]) => {
    const rollout = await rollOutWatched(job, policy, world, settings, { signal, spotlight })
    rollouts[at] = rollout
    onRollout?.(rollout)
  })
  return rollouts
}
