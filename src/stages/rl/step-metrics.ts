import { enteredTokens, tokensByAgent } from '../../agent/index.ts'
import type { Rollout, Task } from '../../schema/index.ts'
import type { MetricRow } from '../../store/index.ts'
import { policiesOf } from './policy-steps.ts'
import { isTruncated } from './reward.ts'
import type { SampledStep } from './sample-step.ts'
import { statisticsOf } from './statistics.ts'
import type { TrainMetrics } from './train-step.ts'

export interface StepTimes {
  /** From the end of the previous step to the end of this one. */
  wallMs: number
  /** Forward and backward passes and updates. */
  trainingMs: number
  /** Until there were enough groups. */
  waitedMs: number
  /** Rollouts continue while the model is trained. */
  overlaps: boolean
}

/** The row of one step in metrics.jsonl. Parts of a name are separated by slashes. */
export function stepRow(
  sampled: SampledStep,
  trained: TrainMetrics,
  tasks: ReadonlyMap<string, Task>,
  { learningRate, times }: { learningRate: number; times: StepTimes },
): MetricRow {
  return {
    stage: 'rl',
    step: sampled.step,
    ...rewardMetrics(sampled, tasks),
    ...groupMetrics(sampled),
    ...withPrefix('groups_kept/suite', keptBySuite(sampled, tasks)),
    ...rolloutMetrics(sampled.rollouts),
    ...callMetrics(sampled.rollouts),
    ...trainingMetrics(trained),
    learning_rate: learningRate,
    ...stalenessMetrics(sampled),
    ...timeMetrics(sampled, times),
  }
}

/** Rewards are averaged over rollouts that have one; pass rates count every rollout. */
function rewardMetrics({ scored, rollouts }: SampledStep, tasks: ReadonlyMap<string, Task>): MetricRow {
  const { mean, std } = statisticsOf(scored.map(({ reward }) => reward))
  const row: MetricRow = { reward_mean: mean, reward_std: std, pass_rate: passRate(rollouts) }
  const kinds = new Map<string, Rollout[]>()
  for (const rollout of rollouts) {
    const task = tasks.get(rollout.taskId)
    if (task === undefined) continue
    const names = [`pass_rate/suite/${task.suite}`]
    if (task.level !== undefined) names.push(`pass_rate/level/${task.level}`)
    for (const name of names) kinds.set(name, [...(kinds.get(name) ?? []), rollout])
  }
  for (const name of [...kinds.keys()].sort()) row[name] = passRate(kinds.get(name)!)
  return row
}

export function passRate(rollouts: readonly Rollout[]): number {
  return share(rollouts, ({ verdict }) => verdict?.outcome === 'correct')
}

function groupMetrics({
  kept,
  leftOver,
  dropped,
  equal,
  tried,
  leftOut,
  rollouts,
  stale,
}: SampledStep): MetricRow {
  const sum = (counts: Record<string, number>): number =>
    Object.values(counts).reduce((total, count) => total + count, 0)
  return {
    rollouts: rollouts.length,
    left_out: sum(leftOut),
    ...withPrefix('left_out', leftOut),
    groups_kept: kept.length,
    groups_dropped: sum(dropped),
    ...withPrefix('groups_dropped', dropped),
    groups_left_over: leftOver,
    groups_stale: stale,
    groups_equal_share: tried === 0 ? 0 : sum(equal) / tried,
    ...withPrefix('groups_equal', equal),
  }
}

/** Suites that were tried and of which no group was kept count as 0. */
function keptBySuite(
  { kept, rollouts }: SampledStep,
  tasks: ReadonlyMap<string, Task>,
): Record<string, number> {
  const counts = new Map<string, number>()
  const add = (taskId: string, count: number): void => {
    const suite = tasks.get(taskId)?.suite
    if (suite !== undefined) counts.set(suite, (counts.get(suite) ?? 0) + count)
  }
  for (const { taskId } of rollouts) add(taskId, 0)
  for (const { taskId } of kept) add(taskId, 1)
  return Object.fromEntries(counts)
}

function rolloutMetrics(rollouts: readonly Rollout[]): MetricRow {
  const tokens = { sampled: 0, inserted: 0 }
  const byRole: Record<string, number> = {}
  const stops: Record<string, number> = {}
  let [most, surprise] = [0, 0]
  for (const rollout of rollouts) {
    const { sampled, inserted } = enteredTokens(rollout)
    tokens.sampled += sampled
    tokens.inserted += inserted
    most = Math.max(most, sampled)
    for (const { logprobs = [] } of rollout.spans) for (const logprob of logprobs) surprise -= logprob
    for (const [role, count] of Object.entries(tokensByAgent(rollout)))
      byRole[role] = (byRole[role] ?? 0) + count
    stops[rollout.stop] = (stops[rollout.stop] ?? 0) + 1
  }
  const mean = (counts: Record<string, number>): Record<string, number> =>
    Object.fromEntries(
      Object.entries(counts).map(([name, count]) => [name, count / Math.max(1, rollouts.length)]),
    )
  return {
    tokens_sampled_mean: tokens.sampled / Math.max(1, rollouts.length),
    tokens_sampled_max: most,
    tokens_inserted_mean: tokens.inserted / Math.max(1, rollouts.length),
    ...withPrefix('tokens_by_role', mean(byRole)),
    entropy: surprise / Math.max(1, tokens.sampled),
    well_formed_share: share(rollouts, ({ wellFormed }) => wellFormed),
    truncated_share: share(rollouts, isTruncated),
    ...withPrefix('stop', mean(stops)),
  }
}

function callMetrics(rollouts: readonly Rollout[]): MetricRow {
  const calls = rollouts.flatMap(({ calls: made }) => made)
  const counts: Record<string, number> = {}
  for (const { agent, outcome } of calls) {
    counts[`${agent}/${outcome}`] = (counts[`${agent}/${outcome}`] ?? 0) + 1
  }
  return {
    turns_mean: calls.length / Math.max(1, rollouts.length),
    calls: calls.length,
    malformed_share: share(calls, ({ outcome }) => outcome === 'malformed'),
    tool_error_share: share(calls, ({ outcome }) => outcome === 'environment'),
    ...withPrefix('calls', counts),
  }
}

function trainingMetrics(trained: TrainMetrics): MetricRow {
  return {
    updates: trained.updates,
    tokens_trained: trained.tokens,
    clip_low_share: trained.clipLow,
    clip_high_share: trained.clipHigh,
    ratio_mean: trained.meanRatio,
    importance_mean: trained.meanImportance,
    importance_max: trained.maxImportance,
    importance_capped_share: trained.capped,
    mismatch_mean: trained.mismatch.mean,
    mismatch_max: trained.mismatch.max,
    ...(trained.kl === undefined ? {} : { kl: trained.kl }),
    gradient_norm: trained.gradientNorm,
  }
}

/** Steps between the weights that sampled the trained tokens and those that the step starts from. */
function stalenessMetrics({ step, kept }: SampledStep): MetricRow {
  let [sum, most, tokens] = [0, 0, 0]
  for (const { members } of kept)
    for (const { rollout } of members)
      for (const run of policiesOf(rollout)) {
        sum += run.tokens * (step - 1 - run.step)
        tokens += run.tokens
        most = Math.max(most, step - 1 - run.step)
      }
  return { staleness: tokens === 0 ? 0 : sum / tokens, staleness_max: most }
}

/**
 * Shares of a step's time. Rollouts run concurrently, so their time is divided by the number of slots. Without overlap,
 * idle slots count as waiting; with it, the time in which training waits for rollouts does, and the shares add up to more
 * than 1.
 */
function timeMetrics({ rollouts, slots }: SampledStep, times: StepTimes): MetricRow {
  const { wallMs, trainingMs, waitedMs, overlaps } = times
  const spent = { sampling: 0, tools: 0 }
  let tokens = 0
  for (const rollout of rollouts) {
    spent.sampling += rollout.ms.sampling / slots
    spent.tools += (rollout.ms.tools + rollout.ms.checking) / slots
    tokens += enteredTokens(rollout).sampled
  }
  const waiting = overlaps ? waitedMs : waitedMs - spent.sampling - spent.tools
  const of = (part: number): number => (wallMs === 0 ? 0 : Math.max(0, part) / wallMs)
  return {
    seconds: wallMs / 1000,
    tokens_per_second: wallMs === 0 ? 0 : (1000 * tokens) / wallMs,
    'time/sampling': of(spent.sampling),
    'time/tools': of(spent.tools),
    'time/training': of(trainingMs),
    'time/waiting': of(waiting),
    'time/other': of(wallMs - trainingMs - waitedMs),
  }
}

function share<T>(items: readonly T[], holds: (item: T) => boolean): number {
  return items.length === 0 ? 0 : items.filter(holds).length / items.length
}

function withPrefix(prefix: string, counts: Record<string, number>): MetricRow {
  const names = Object.keys(counts).sort()
  return Object.fromEntries(names.map((name) => [`${prefix}/${name}`, counts[name]!]))
}
