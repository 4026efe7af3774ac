import type { RolloutJob } from '../../agent/contract.ts'
import { inParallel } from '../../base/concurrency/index.ts'
import type { Rollout, Task } from '../../schema/index.ts'
import type { RlSettings } from './config.ts'
import { curriculumOrder, type PassRates, tasksFrom, withTries } from './curriculum.ts'
import { rolloutSeed } from './draws.ts'
import { type DropReason, dropReason, refillSize } from './dynamic-sampling.ts'
import { type Group, groupsOf, type Scored } from './groups.ts'
import { type Judged, judged, type LeftOut } from './reward.ts'

/** What the choice of tasks goes on from. */
export interface Drawing {
  /** Tasks drawn so far. */
  place: number
  passRates: PassRates
}

export interface Sampling {
  tasks: readonly Task[]
  settings: RlSettings
  rollOut: (job: RolloutJob, checkpoint: string) => Promise<Rollout>
  signal: AbortSignal
  /** Told of every rollout as it ends, with its reward; `draw` is the number of its group within the step. */
  onRollout: (rollout: Rollout, draw: number) => void
}

export interface SampledStep {
  step: number
  /** Steps that the weights had been trained for. */
  policyStep: number
  /** What is trained on. */
  kept: Group[]
  /** Good groups more than were needed; they are not kept for later, when they would be older. */
  leftOver: number
  dropped: Record<DropReason, number>
  /** By variance, whether or not such groups are dropped. */
  equal: Record<DropReason, number>
  tried: number
  leftOut: Record<LeftOut, number>
  /** All rollouts, and those that could be judged. */
  rollouts: Rollout[]
  scored: Scored[]
  refills: number
  /** There are fewer groups than asked for; in words. */
  shortage: string | undefined
  ms: number
  /** Rollouts that could be at work at the same time. */
  slots: number
  next: Drawing
}

/** The name under which rollouts tell which weights sampled them. */
function policyName(policyStep: number): string {
  return `rl@${policyStep}`
}

/**
 * Samples groups until the step is full: groups that are kept stay while others are sampled, all by the same weights.
 * What is sampled depends only on seed, step and task.
 */
export async function sampleStep(
  sampling: Sampling,
  step: number,
  policyStep: number,
  drawing: Drawing,
): Promise<SampledStep> {
  const began = performance.now()
  const { settings } = sampling
  const found: SampledStep = {
    step,
    policyStep,
    kept: [],
    leftOver: 0,
    dropped: noReasons(),
    equal: noReasons(),
    tried: 0,
    leftOut: { environment: 0, time: 0, overlong: 0, undecided: 0, unchecked: 0 },
    rollouts: [],
    scored: [],
    refills: 0,
    shortage: undefined,
    ms: 0,
    slots: Math.min(settings.concurrency, settings.groups * settings.group_size),
    next: drawing,
  }
  const draw = drawer(sampling, step, drawing)
  const most = settings.dynamic_sampling ? settings.max_gen_batches * settings.groups : settings.groups
  await round(sampling, found, draw(settings.groups))
  for (; found.kept.length < settings.groups && found.tried < most; found.refills++) {
    const next = refillSize(settings.groups, found.tried, found.kept.length)
    await round(sampling, found, draw(Math.min(next, most - found.tried)))
  }
  if (found.kept.length < settings.groups) found.shortage = shortageOf(found, settings.groups)
  found.leftOver = Math.max(0, found.kept.length - settings.groups)
  found.kept.length -= found.leftOver
  found.next = { ...found.next, place: drawing.place + found.tried }
  found.ms = performance.now() - began
  return found
}

function noReasons(): Record<DropReason, number> {
  return { all_right: 0, all_wrong: 0, all_equal: 0, too_few: 0 }
}

function shortageOf({ kept, tried, dropped }: SampledStep, wanted: number): string {
  const reasons = Object.entries(dropped).filter(([, count]) => count > 0)
  const list = reasons.map(([reason, count]) => `${count} ${reason.replace('_', ' ')}`).join(', ')
  return `${kept.length} of the ${wanted} groups it needs; of ${tried} sampled, ${list}`
}

/** The next tasks of a step, on and on. */
function drawer(
  { tasks, settings }: Sampling,
  step: number,
  { place, passRates }: Drawing,
): (count: number) => Task[] {
  let drawn = 0
  const order = settings.curriculum ? curriculumOrder(tasks, passRates, settings.seed, step) : undefined
  return (count) => {
    const from = drawn
    drawn += count
    if (order === undefined) return tasksFrom(tasks, settings.seed, place + from, count)
    return Array.from({ length: count }, (_, at) => order[(from + at) % order.length]!)
  }
}

async function round(sampling: Sampling, found: SampledStep, tasks: readonly Task[]): Promise<void> {
  const { settings } = sampling
  const jobs = tasks.flatMap((task, at) =>
    Array.from({ length: settings.group_size }, (_, number) => ({
      draw: found.tried + at,
      job: jobOf(settings, found.step, found.tried + at, task, number),
    })),
  )
  const results = await workThrough(sampling, jobs, policyName(found.policyStep))
  const scored: Scored[] = []
  for (const { rollout, result } of results) {
    found.rollouts.push(rollout)
    if ('leftOut' in result) found.leftOut[result.leftOut]++
    else scored.push({ rollout, ...result })
  }
  found.scored.push(...scored)
  const groups = new Map(groupsOf(scored).map((group) => [group.id, group]))
  for (const [at, { id: taskId }] of tasks.entries()) {
    const id = groupName(found.step, found.tried + at)
    take(found, groups.get(id) ?? { id, taskId, members: [] }, settings)
  }
  found.tried += tasks.length
}

function take(found: SampledStep, group: Group, settings: RlSettings): void {
  const correct = group.members.filter(({ isCorrect }) => isCorrect).length
  const passRates = withTries(found.next.passRates, group.taskId, {
    correct,
    wrong: group.members.length - correct,
  })
  found.next = { ...found.next, passRates }
  const equal = dropReason(group, { ...settings, dynamic_sampling: true })
  if (equal !== undefined) found.equal[equal]++
  const reason = dropReason(group, settings)
  if (reason === undefined) found.kept.push(group)
  else found.dropped[reason]++
}

function groupName(step: number, draw: number): string {
  return `rl-${step}-${draw}`
}

function jobOf(settings: RlSettings, step: number, draw: number, task: Task, number: number): RolloutJob {
  const groupId = groupName(step, draw)
  return {
    task,
    groupId,
    id: `${groupId}-${number}`,
    seed: rolloutSeed(settings.seed, step, draw, task.id, number),
  }
}

/** So many at a time; the results stand in the order of the jobs, whichever ends first. */
async function workThrough(
  { settings, rollOut, signal, onRollout }: Sampling,
  jobs: readonly { job: RolloutJob; draw: number }[],
  checkpoint: string,
): Promise<{ rollout: Rollout; result: Judged }[]> {
  const results: { rollout: Rollout; result: Judged }[] = []
  await inParallel(jobs, settings.concurrency, async ({ job, draw }, at) => {
    signal.throwIfAborted()
    const rollout = await rollOut(job, checkpoint)
    const result = judged(rollout, settings)
    results[at] = { rollout, result }
    onRollout('reward' in result ? { ...rollout, reward: result.reward } : rollout, draw)
  })
  return results
}
