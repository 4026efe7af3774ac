import type { RolloutJob } from '../../agent/contract.ts'
import { inParallel } from '../../base/concurrency/index.ts'
import { fractionOf } from '../../base/random/index.ts'
import type { Rollout, Task } from '../../schema/index.ts'
import type { RlSettings } from './config.ts'
import { curriculumOrder, type PassRates, tasksFrom, withTries } from './curriculum.ts'
import { type DropReason, dropReason, refillSize } from './dynamic-sampling.ts'
import { type Group, groupsOf, type Scored } from './groups.ts'
import { type LeftOut, type RolloutScore, scoreRollout } from './reward.ts'

/** State of the task sampler, to resume from. */
export interface TaskCursor {
  /** Number of tasks sampled so far. */
  place: number
  passRates: PassRates
}

export interface Sampling {
  tasks: readonly Task[]
  settings: RlSettings
  rollOut: (job: RolloutJob, checkpoint: string) => Promise<Rollout>
  signal: AbortSignal
  /** Called for every rollout as it ends, with its reward and the index of its group within the step. */
  onRollout: (rollout: Rollout, groupIndex: number) => void
}

export interface SampledStep {
  step: number
  /** Steps that the sampling weights had been trained for. */
  policyStep: number
  /** The groups to train on. */
  kept: Group[]
  /** Usable groups beyond those needed; they are discarded rather than trained on later with outdated weights. */
  leftOver: number
  dropped: Record<DropReason, number>
  /** Groups without variance, whether or not they are dropped. */
  equal: Record<DropReason, number>
  tried: number
  leftOut: Record<LeftOut, number>
  /** All rollouts, and those with a verdict. */
  rollouts: Rollout[]
  scored: Scored[]
  refills: number
  /** Set if there are fewer groups than needed: a description. */
  shortage: string | undefined
  ms: number
  /** Maximum number of concurrent rollouts. */
  slots: number
  next: TaskCursor
}

/** Identifies in rollouts the weights that sampled them. */
function policyName(policyStep: number): string {
  return `rl@${policyStep}`
}

/**
 * Samples groups until the step is full: kept groups stay while others are sampled, all with the same weights. What
 * is sampled depends only on seed, step and task.
 */
export async function sampleStep(
  sampling: Sampling,
  step: number,
  policyStep: number,
  drawing: TaskCursor,
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
  const nextTasks = taskSource(sampling, step, drawing)
  const most = settings.dynamic_sampling ? settings.max_gen_batches * settings.groups : settings.groups
  await round(sampling, found, nextTasks(settings.groups))
  for (; found.kept.length < settings.groups && found.tried < most; found.refills++) {
    const next = refillSize(settings.groups, found.tried, found.kept.length)
    await round(sampling, found, nextTasks(Math.min(next, most - found.tried)))
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

/** Returns a function for the next tasks of a step. */
function taskSource(
  { tasks, settings }: Sampling,
  step: number,
  { place, passRates }: TaskCursor,
): (count: number) => Task[] {
  let count = 0
  const order = settings.curriculum ? curriculumOrder(tasks, passRates, settings.seed, step) : undefined
  return (wanted) => {
    const from = count
    count += wanted
    if (order === undefined) return tasksFrom(tasks, settings.seed, place + from, wanted)
    return Array.from({ length: wanted }, (_, at) => order[(from + at) % order.length]!)
  }
}

async function round(sampling: Sampling, found: SampledStep, tasks: readonly Task[]): Promise<void> {
  const { settings } = sampling
  const jobs = tasks.flatMap((task, at) =>
    Array.from({ length: settings.group_size }, (_, number) => ({
      groupIndex: found.tried + at,
      job: jobOf(settings, found.step, found.tried + at, task, number),
    })),
  )
  const results = await rollOutJobs(sampling, jobs, policyName(found.policyStep))
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
    addGroup(found, groups.get(id) ?? { id, taskId, members: [] }, settings)
  }
  found.tried += tasks.length
}

function addGroup(found: SampledStep, group: Group, settings: RlSettings): void {
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

function groupName(step: number, groupIndex: number): string {
  return `rl-${step}-${groupIndex}`
}

function jobOf(
  settings: RlSettings,
  step: number,
  groupIndex: number,
  task: Task,
  number: number,
): RolloutJob {
  const groupId = groupName(step, groupIndex)
  return {
    task,
    groupId,
    id: `${groupId}-${number}`,
    seed: rolloutSeed(settings.seed, step, groupIndex, task.id, number),
  }
}

/** Runs jobs with limited concurrency; the results are in the order of the jobs. */
async function rollOutJobs(
  { settings, rollOut, signal, onRollout }: Sampling,
  jobs: readonly { job: RolloutJob; groupIndex: number }[],
  checkpoint: string,
): Promise<{ rollout: Rollout; result: RolloutScore }[]> {
  const results: { rollout: Rollout; result: RolloutScore }[] = []
  await inParallel(jobs, settings.concurrency, async ({ job, groupIndex }, at) => {
    signal.throwIfAborted()
    const rollout = await rollOut(job, checkpoint)
    const result = scoreRollout(rollout, settings)
    results[at] = { rollout, result }
    onRollout('reward' in result ? { ...rollout, reward: result.reward } : rollout, groupIndex)
  })
  return results
}

/** The seed of one rollout. `draw` tells apart two groups of one task in the same step. */
function rolloutSeed(seed: number, step: number, draw: number, taskId: string, number: number): number {
  return Math.floor(fractionOf('rollout', seed, step, draw, taskId, number) * 2 ** 31)
}
