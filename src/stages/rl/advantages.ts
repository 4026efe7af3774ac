import { statisticsOf } from './statistics.ts'

/**
 * The baseline of a reward R:
 * group: (R − mean) / (std + 1e-6) of its group, as in GRPO and DAPO.
 * group-mean: R − mean of its group, as in Dr. GRPO.
 * leave-one-out: R − mean of the other rollouts of its group.
 * batch: R − mean of the batch, divided by the batch's std, as in REINFORCE++.
 * batch-group: R − mean of its group, divided by the std of all those differences.
 */
export type AdvantageKind = 'group' | 'group-mean' | 'leave-one-out' | 'batch' | 'batch-group'

const EPSILON = 1e-6

/** Advantages in the shape of the rewards: one list per group. Standard deviations are unbiased. */
export function advantagesOf(groups: readonly (readonly number[])[], kind: AdvantageKind): number[][] {
  if (kind === 'batch') return whitened(groups)
  if (kind === 'batch-group') {
    const centered = groups.map((rewards) => centeredOn(rewards, statisticsOf(rewards).mean))
    const { std } = statisticsOf(centered.flat())
    return centered.map((values) => values.map((value) => value / (std + EPSILON)))
  }
  return groups.map((rewards) => withinGroup(rewards, kind))
}

function withinGroup(rewards: readonly number[], kind: 'group' | 'group-mean' | 'leave-one-out'): number[] {
  const { count, mean, std } = statisticsOf(rewards)
  // A single rollout has no group statistics: mean 0 and deviation 1 are assumed.
  if (count < 2) return kind === 'group' ? rewards.map((reward) => reward / (1 + EPSILON)) : [...rewards]
  const centered = centeredOn(rewards, mean)
  if (kind === 'group') return centered.map((value) => value / (std + EPSILON))
  // R − (sum − R)/(n − 1) = (R − mean)·n/(n − 1)
  return kind === 'leave-one-out' ? centered.map((value) => (value * count) / (count - 1)) : centered
}

function whitened(groups: readonly (readonly number[])[]): number[][] {
  const { mean, std } = statisticsOf(groups.flat())
  return groups.map((rewards) => centeredOn(rewards, mean).map((value) => value / (std + EPSILON)))
}

function centeredOn(rewards: readonly number[], mean: number): number[] {
  return rewards.map((reward) => reward - mean)
}
