import { statisticsOf } from './groups.ts'

/**
 * What a reward is compared with.
 * group: (R − mean) / (std + 1e-6) of its group, as GRPO and DAPO do.
 * group-mean: R − mean of its group, as Dr. GRPO does.
 * leave-one-out: R − mean of the others of its group.
 * batch: R − mean of the whole batch, divided by the batch's std, as REINFORCE++ does.
 * batch-group: R − mean of its group, divided by the std of all those differences.
 */
export type AdvantageKind = 'group' | 'group-mean' | 'leave-one-out' | 'batch' | 'batch-group'

const EPSILON = 1e-6

/** Advantages in the shape of the rewards: a list for each group. Standard deviations are unbiased. */
export function advantagesOf(groups: readonly (readonly number[])[], kind: AdvantageKind): number[][] {
  if (kind === 'batch') return whitened(groups)
  if (kind === 'batch-group') {
    const centred = groups.map((rewards) => centredOn(rewards, statisticsOf(rewards).mean))
    const { std } = statisticsOf(centred.flat())
    return centred.map((values) => values.map((value) => value / (std + EPSILON)))
  }
  return groups.map((rewards) => withinGroup(rewards, kind))
}

function withinGroup(rewards: readonly number[], kind: 'group' | 'group-mean' | 'leave-one-out'): number[] {
  const { count, mean, std } = statisticsOf(rewards)
  // Of a single one there is no mean to compare with: it counts with mean 0 and deviation 1.
  if (count < 2) return kind === 'group' ? rewards.map((reward) => reward / (1 + EPSILON)) : [...rewards]
  const centred = centredOn(rewards, mean)
  if (kind === 'group') return centred.map((value) => value / (std + EPSILON))
  // R − (sum − R)/(n − 1) = (R − mean)·n/(n − 1)
  return kind === 'leave-one-out' ? centred.map((value) => (value * count) / (count - 1)) : centred
}

function whitened(groups: readonly (readonly number[])[]): number[][] {
  const { mean, std } = statisticsOf(groups.flat())
  return groups.map((rewards) => centredOn(rewards, mean).map((value) => value / (std + EPSILON)))
}

function centredOn(rewards: readonly number[], mean: number): number[] {
  return rewards.map((reward) => reward - mean)
}
