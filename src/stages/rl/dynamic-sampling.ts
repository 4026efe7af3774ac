import type { RlSettings } from './config.ts'
import { type Group, statisticsOf } from './groups.ts'

/** Why a group teaches nothing. `too_few`: not enough of its rollouts could be judged. */
export type DropReason = 'all_right' | 'all_wrong' | 'all_equal' | 'too_few'

export type VarianceSettings = Pick<RlSettings, 'dynamic_sampling' | 'variance_of' | 'group_size'>

/** Undefined for a group that is kept. */
export function dropReason(group: Group, settings: VarianceSettings): DropReason | undefined {
  const { members } = group
  if (members.length === 0) return 'too_few'
  // Of a prompt that is only tried once there is nothing to compare, and nothing that could be equal.
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
 * How many groups to sample next, by how many of the earlier ones could be used. Never more than a first round. As the
 * groups that are kept first are the ones that are trained on, smaller rounds lead to the same step as whole batches.
 */
export function refillSize(wanted: number, tried: number, kept: number): number {
  const missing = wanted - kept
  // After a round without success four tries for each missing group are enough of a guess.
  const share = Math.max(kept / tried, 0.25)
  return Math.min(wanted, Math.ceil(missing / share))
}

/** What a person should change when too few groups differ, by what most of them were dropped for. */
export function adviceFor(dropped: Readonly<Record<DropReason, number>>): string {
  const reasons = Object.entries(dropped) as [DropReason, number][]
  const [most] = reasons.toSorted(([, one], [, other]) => other - one)[0]!
  return {
    all_right: 'The tasks are too easy by now: take harder ones, or stop here.',
    all_wrong:
      'The tasks are too hard as yet: take easier ones, train longer by SFT first, or set rl.partial or rl.group_size higher.',
    all_equal:
      'Rewards are the same whatever is right: check rl.variance_of and what is added to the reward.',
    too_few: 'Too few rollouts could be judged: look at left_out in metrics.jsonl, and at tools and judge.',
  }[most]
}
