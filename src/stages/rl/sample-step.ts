import type { Rollout } from '../../schema/index.ts'
import type { Group, Scored } from './contract.ts'
import type { PassRates } from './curriculum.ts'
import { withTries } from './curriculum.ts'
import type { DropReason } from './dynamic-sampling.ts'
import type { FinishedGroup } from './group-run.ts'
import type { LeftOut } from './reward.ts'

/** State of the task sampler, to resume from. */
export interface TaskCursor {
  /** Number of tasks sampled so far, without a gap. */
  place: number
  /** Places after it that are done too: with overlap, groups do not end in order. */
  done: number[]
  passRates: PassRates
}

/** The groups of one step. */
export interface SampledStep {
  step: number
  /** The groups to train on. */
  kept: Group[]
  /** Groups that had been started but were not needed, and those that have become too old to train on. */
  leftOver: number
  stale: number
  dropped: Record<DropReason, number>
  /** Groups without variance, whether or not they are dropped. */
  equal: Record<DropReason, number>
  tried: number
  leftOut: Record<LeftOut, number>
  /** All rollouts, and those with a verdict. */
  rollouts: Rollout[]
  scored: Scored[]
  /** Set if there are fewer groups than needed: a description. */
  shortage: string | undefined
  /** Maximum number of concurrent rollouts. */
  slots: number
  next: TaskCursor
}

/** The step made of these groups. */
export function stepOf(
  step: number,
  groups: readonly FinishedGroup[],
  wanted: number,
  before: TaskCursor,
): SampledStep {
  const found: SampledStep = {
    step,
    kept: [],
    leftOver: 0,
    stale: 0,
    dropped: noReasons(),
    equal: noReasons(),
    tried: groups.length,
    leftOut: { environment: 0, time: 0, overlong: 0, void: 0, undecided: 0, unchecked: 0 },
    rollouts: [],
    scored: [],
    shortage: undefined,
    slots: 1,
    next: before,
  }
  for (const group of groups) addGroup(found, group)
  if (found.kept.length < wanted) found.shortage = shortageOf(found, wanted)
  return found
}

function addGroup(found: SampledStep, { group, rollouts, leftOut, dropped, equal }: FinishedGroup): void {
  found.rollouts.push(...rollouts)
  found.scored.push(...group.members)
  for (const reason of leftOut) found.leftOut[reason]++
  if (equal !== undefined) found.equal[equal]++
  if (dropped === undefined) found.kept.push(group)
  else found.dropped[dropped]++
  const correct = group.members.filter(({ isCorrect }) => isCorrect).length
  const tries = { correct, wrong: group.members.length - correct }
  found.next = { ...found.next, passRates: withTries(found.next.passRates, group.taskId, tries) }
}

function noReasons(): Record<DropReason, number> {
  return { all_right: 0, all_wrong: 0, all_equal: 0, too_few: 0 }
}

function shortageOf({ kept, tried, dropped }: SampledStep, wanted: number): string {
  const reasons = Object.entries(dropped).filter(([, count]) => count > 0)
  const list = reasons.map(([reason, count]) => `${count} ${reason.replace('_', ' ')}`).join(', ')
  return `${kept.length} of the ${wanted} groups it needs; of ${tried} sampled, ${list}`
}
