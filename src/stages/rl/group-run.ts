import type { RolloutJob } from '../../agent/contract.ts'
import { fractionOf } from '../../base/random/index.ts'
import type { Rollout, Task } from '../../schema/index.ts'
import type { RlSettings } from './config.ts'
import type { Group, Scored } from './contract.ts'
import { type DropReason, dropReason } from './dynamic-sampling.ts'
import { policiesOf } from './policy-steps.ts'
import { type LeftOut, scoreRollout } from './reward.ts'

/** A group being sampled. */
export interface GroupRun {
  id: string
  task: Task
  /** Position in the endless list of tasks. */
  place: number
  /** Steps that the weights had been trained for when it started. */
  began: number
  abort: AbortController
  /** By number, as they end. */
  rollouts: (Rollout | undefined)[]
}

/** A group all of whose rollouts have ended. */
export interface FinishedGroup extends Pick<GroupRun, 'place'> {
  group: Group
  /** All rollouts, with their reward if they have one. */
  rollouts: Rollout[]
  leftOut: LeftOut[]
  /** Why it is not trained on, if it is not. */
  dropped: DropReason | undefined
  /** Why it has no variance, whether or not it is dropped. */
  equal: DropReason | undefined
  /** Steps that the weights had been trained for when they sampled its oldest token. */
  oldest: number
}

export function finishGroup(run: GroupRun, settings: RlSettings): FinishedGroup {
  const scored: Scored[] = []
  const leftOut: LeftOut[] = []
  const rollouts = run.rollouts.map((each) => {
    const rollout = each!
    const result = scoreRollout(rollout, settings)
    if ('leftOut' in result) {
      leftOut.push(result.leftOut)
      return rollout
    }
    scored.push({ rollout, ...result })
    return { ...rollout, reward: result.reward }
  })
  const group = { id: run.id, taskId: run.task.id, members: scored }
  return {
    place: run.place,
    group,
    rollouts,
    leftOut,
    dropped: dropReason(group, settings),
    equal: dropReason(group, { ...settings, dynamic_sampling: true }),
    oldest: Math.min(...rollouts.map((rollout) => policiesOf(rollout)[0]?.step ?? run.began)),
  }
}

/** The jobs of a group. `index` tells apart two groups of one task in the same step. */
export function jobsOf(
  { seed, group_size }: RlSettings,
  { id: groupId, task }: Pick<GroupRun, 'id' | 'task'>,
  step: number,
  index: number,
): RolloutJob[] {
  return Array.from({ length: group_size }, (_, number) => ({
    task,
    groupId,
    id: `${groupId}-${number}`,
    seed: Math.floor(fractionOf('rollout', seed, step, index, task.id, number) * 2 ** 31),
  }))
}
