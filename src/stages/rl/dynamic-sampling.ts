import type { RlSettings } from './config.ts'
import type { Group } from './contract.ts'
import { statisticsOf } from './statistics.ts'

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

/** The share of groups that are kept, as observed; earlier steps count less, because the model changes. */
export class KeepRate {
  readonly #least: number
  #kept: number
  #tried: number

  constructor({ groups, max_gen_batches }: Pick<RlSettings, 'groups' | 'max_gen_batches'>) {
    // Nothing is known at first: assume that most are kept, so that nothing is started in vain.
    this.#kept = this.#tried = groups / 2
    this.#least = 1 / max_gen_batches
  }

  add(isKept: boolean): void {
    this.#tried++
    if (isKept) this.#kept++
  }

  nextStep(): void {
    this.#kept /= 2
    this.#tried /= 2
  }

  get share(): number {
    return Math.max(this.#kept / this.#tried, this.#least)
  }

  /** How many of these may well be kept: the mean plus a standard deviation, because a surplus is wasted. */
  optimistic(groups: number): number {
    return groups * this.share + Math.sqrt(groups * this.share * (1 - this.share))
  }
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
