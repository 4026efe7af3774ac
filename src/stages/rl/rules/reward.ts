import { percent } from '../../../base/text/index.ts'
import type { MetricRow } from '../../../store/index.ts'
import { mean, metric, type Rule, WINDOW } from './rule.ts'

/** Pass rates are noisy, so windows of twice the usual length are compared. */
const LONG = 2 * WINDOW

/**
 * Standard error of the difference of two means over half of the rows each, estimated from differences of neighbors.
 */
function noise(rows: readonly MetricRow[]): number {
  const steps = rows.slice(1).map((row, at) => metric(row, 'pass_rate') - metric(rows[at], 'pass_rate'))
  const variance = steps.reduce((sum, step) => sum + step * step, 0) / (2 * Math.max(1, steps.length))
  return Math.max(0.005, Math.sqrt((4 * variance) / rows.length))
}

/** With a curriculum that prefers harder tasks, the pass rate stays flat while accuracy rises. */
function accuracyStillRises(rows: readonly MetricRow[]): boolean {
  const best = (part: readonly MetricRow[]): number =>
    Math.max(...part.map((row) => metric(row, 'eval_accuracy')).filter(Number.isFinite))
  return best(rows.slice(-LONG)) > best(rows.slice(0, -LONG)) + 0.01
}

/** The window before the last one with the highest pass rate. */
function bestBefore(rows: readonly MetricRow[]): { from: number; rate: number } {
  let best = { from: 0, rate: Number.NEGATIVE_INFINITY }
  for (let from = 0; from + 2 * LONG <= rows.length; from++) {
    const rate = mean(rows.slice(from, from + LONG), 'pass_rate')
    if (rate > best.rate) best = { from, rate }
  }
  return best
}

/** The pass rate drops again. As the best of many windows is compared, the threshold is larger than for a plateau. */
export const rewardFalls: Rule = (rows) => {
  if (rows.length < 2 * LONG) return undefined
  const now = mean(rows.slice(-LONG), 'pass_rate')
  const { from, rate } = bestBefore(rows)
  if (!(rate - now > Math.max(0.03, 3.5 * noise(rows.slice(-2 * LONG)))) || accuracyStillRises(rows))
    return undefined
  const [first, last] = [from, from + LONG - 1].map((at) => metric(rows[at], 'step'))
  return {
    what: `the pass rate is ${percent(now, 0)} over the last ${LONG} steps, down from ${percent(rate, 0)} in steps ${first} to ${last}`,
    cause: 'the updates are too large for what is left to learn: noise dominates the reward signal',
    advice:
      'Restart with half the rl.learning_rate or with rl.final_share = 0.1, so that it decays; more rl.groups reduce noise.',
  }
}

/** The reward no longer rises although there is room for improvement. */
export const rewardPlateau: Rule = (rows) => {
  if (rows.length < 2 * LONG) return undefined
  const late = rows.slice(-LONG)
  const before = mean(rows.slice(-2 * LONG, -LONG), 'pass_rate')
  const now = mean(late, 'pass_rate')
  if (!(now < 0.9 && now - before < 2 * noise(rows.slice(-2 * LONG)))) return undefined
  if (accuracyStillRises(rows) || rewardFalls(rows) !== undefined) return undefined
  const [easy, hard] = ['groups_equal/all_right', 'groups_equal/all_wrong'].map((name) => mean(late, name))
  const what = `the pass rate has been about ${percent(now, 0)} for ${LONG} steps (${percent(before, 0)} in the ${LONG} before)`
  if (easy! > 2 * hard!)
    return {
      what,
      cause: 'the task filter is too loose: most remaining tasks are solved every time',
      advice: 'Leave out tasks that are always solved (rl.pass_rate), add harder ones, or set rl.curriculum.',
    }
  if (hard! > 2 * easy!)
    return {
      what,
      cause: 'the task filter is too strict, or the tasks are too hard: most are never solved',
      advice:
        'Allow easier tasks, leave out those that are never solved (rl.pass_rate), set rl.curriculum, raise rl.group_size, or give partial credit with rl.partial.',
    }
  return {
    what,
    cause: 'the updates are too small, or the model cannot tell correct from wrong',
    advice: 'Raise rl.learning_rate or rl.groups, and inspect wrong rollouts of the last steps.',
  }
}
