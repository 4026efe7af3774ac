import type { MetricRow } from '../../store/index.ts'
import { entropyCollapse } from './rules/entropy-collapse.ts'
import { equalGroups } from './rules/equal-groups.ts'
import { invalidCalls } from './rules/invalid-calls.ts'
import { leftOut } from './rules/left-out.ts'
import { lengthExplosion, truncatedAnswers } from './rules/lengths.ts'
import { samplerMismatch } from './rules/mismatch.ts'
import { rewardFalls } from './rules/reward-falls.ts'
import { rewardPlateau } from './rules/reward-plateau.ts'
import { type Finding, figure, type Rule } from './rules/rule.ts'
import { oneToolOverused, toolsAbandoned } from './rules/tool-use.ts'

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
  const step = figure(steps.at(-1), 'step')
  return Object.entries(rules).flatMap(([id, rule]) => {
    const finding = rule(steps)
    return finding === undefined ? [] : [{ id, step, ...finding }]
  })
}

/** The last row of each step, in order: one that was done again after a kill has two. Only of the last training begun. */
export function stepRows(rows: Iterable<MetricRow>): MetricRow[] {
  const steps = new Map<number, MetricRow>()
  for (const row of rows) {
    if (row['stage'] !== 'rl') continue
    if (row['begins'] === true) steps.clear()
    else steps.set(figure(row, 'step'), row)
  }
  return [...steps].toSorted(([one], [other]) => one - other).map(([, row]) => row)
}

export function findingText({ step, what, cause, advice }: Finding): string {
  return `step ${step}: ${what}. Likely ${cause}. ${advice}`
}
