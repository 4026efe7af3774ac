import type { RlSettings } from './config.ts'
import { type Group, statisticsOf } from './groups.ts'

/** Why a group gives no gradient. `too_few`: not enough of its rollouts have a verdict. */
export type DropReason = 'all_right' | 'all_wrong' | 'all_equal' | 'too_few'

export type VarianceSettings = Pick<RlSettings, 'dynamic_sampling' | 'variance_of' | 'group_size'>

export function dropReason(group: Group, settings: VarianceSettings): DropReason | undefined {
  const { members } = group
  if (members.length === 0) return 'too_few'
  // With a group size of 1 there is nothing to compare.
  if (settings.group_size === 1) return undefined
  if (members.length === 1) return 'too_few'
  if (!settings.dynamic_sampling) return undefined
  const metric = members.map(({ reward, isCorrect }) =>
    settings.variance_of === 'reward' ? reward : Number(isCorrect),
  )
  if (statisticsOf(metric).populationStd > 0) return undefined
  if (members.every(({ isCorrect }) => isCorrect)) return 'all_right'
  return members.some(({ isCorrect }) => isCorrect) ? 'all_equal' : 'all_wrong'
}

/**
 * How many groups to sample next, estimated from the share kept so far, at most one full round. As the groups kept
 * first are trained on, smaller rounds give the same step as full batches.
 */
export function refillSize(wanted: number, tried: number, kept: number): number {
  const missing = wanted - kept
  // After a round without success, assume that one in four is usable.
  const share = Math.max(kept / tried, 0.25)
  return Math.min(wanted, Math.ceil(missing / share))
}

/** What to change when too few groups differ, by the most frequent reason. */
export function adviceFor(dropped: Readonly<Record<DropReason, number>>): string {
  const reasons = Object.entries(dropped) as [DropReason, number][]
  const [most] = reasons.toSorted(([, one], [, other]) => other - one)[0]!
  return {
    all_right: 'The tasks have become too easy: use harder ones, or stop here.',
    all_wrong:
      'The tasks are too hard: use easier ones, train longer with SFT first, set rl.partial, or raise rl.group_size.',
    all_equal:
      'Rewards do not depend on correctness: check rl.variance_of and the terms added to the reward.',
    too_few: 'Too few rollouts could be judged: check left_out in metrics.jsonl, the tools and the judge.',
  }[most]
}
