import type { MetricRow } from '../../store/index.ts'
import { rewardFalls, rewardPlateau } from './rules/reward.ts'
import { type Finding, metric, type Rule } from './rules/rule.ts'
import {
  entropyCollapse,
  equalGroups,
  leftOut,
  lengthExplosion,
  offPolicy,
  samplerMismatch,
  truncatedAnswers,
} from './rules/sampling.ts'
import { invalidCalls, oneToolOverused, toolsAbandoned } from './rules/tool-use.ts'

const rules: Readonly<Record<string, Rule>> = {
  'invalid-calls': invalidCalls,
  'reward-plateau': rewardPlateau,
  'reward-falls': rewardFalls,
  'one-tool-overused': oneToolOverused,
  'tools-abandoned': toolsAbandoned,
  'truncated-answers': truncatedAnswers,
  'entropy-collapse': entropyCollapse,
  'length-explosion': lengthExplosion,
  'sampler-mismatch': samplerMismatch,
  'off-policy': offPolicy,
  'equal-groups': equalGroups,
  'left-out': leftOut,
}

/**
 * Reads a run's metrics and reports what is going wrong in reinforcement learning, the likely cause and what to try. Rows of
 * other stages are ignored.
 *
 * @example
 * import { diagnose, openRun } from 'chain-of-agents'
 *
 * using run = openRun('runs/my-run')
 * for (const { step, what, advice } of diagnose(run.metrics())) console.log(`step ${step}: ${what} ${advice}`)
 */
export function diagnose(rows: Iterable<MetricRow>): Finding[] {
  const steps = stepRows(rows)
  const step = metric(steps.at(-1), 'step')
  return Object.entries(rules).flatMap(([id, rule]) => {
    const finding = rule(steps)
    return finding === undefined ? [] : [{ id, step, ...finding }]
  })
}

/** The last row of each step, in order: a step repeated after a kill has two. Only of the last training run. */
export function stepRows(rows: Iterable<MetricRow>): MetricRow[] {
  const steps = new Map<number, MetricRow>()
  for (const row of rows) {
    if (row['stage'] !== 'rl') continue
    if (row['begins'] === true) steps.clear()
    else steps.set(metric(row, 'step'), row)
  }
  return [...steps].toSorted(([one], [other]) => one - other).map(([, row]) => row)
}

export function findingText({ step, what, cause, advice }: Finding): string {
  return `step ${step}: ${what}. Likely ${cause}. ${advice}`
}
