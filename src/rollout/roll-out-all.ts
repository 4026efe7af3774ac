import type { Rollout } from '../schema/index.ts'
import type { Policy, RolloutJob, RolloutSettings, World } from './contract.ts'
import { inParallel } from './in-parallel.ts'
import { rollOut } from './roll-out.ts'

export interface RollOutAllOptions {
  concurrency: number
  signal?: AbortSignal
  /** Told of each rollout when it is done, in that order. */
  onRollout?: (rollout: Rollout) => void
}

/** Many rollouts, so many at a time, in the order of the jobs. */
export async function rollOutAll(
  jobs: readonly RolloutJob[],
  policy: Policy,
  world: World,
  settings: RolloutSettings,
  { concurrency, signal, onRollout }: RollOutAllOptions,
): Promise<Rollout[]> {
  const rollouts: Rollout[] = []
  await inParallel([...jobs.entries()], concurrency, async ([at, job]) => {
    const rollout = await rollOut(job, policy, world, settings, signal === undefined ? {} : { signal })
    rollouts[at] = rollout
    onRollout?.(rollout)
  })
  return rollouts
}
