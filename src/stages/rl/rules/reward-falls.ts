import { percent } from '../../../base/text/index.ts'
import { bestBefore, LONG, noise, stillMeasuresBetter } from './progress.ts'
import { figure, mean, type Rule } from './rule.ts'

/** What was learned is lost again: the best of many windows is compared, so the bound is wider than for a plateau. */
export const rewardFalls: Rule = (rows) => {
  if (rows.length < 2 * LONG) return undefined
  const now = mean(rows.slice(-LONG), 'pass_rate')
  const { from, rate } = bestBefore(rows)
  if (!(rate - now > Math.max(0.03, 3.5 * noise(rows.slice(-2 * LONG)))) || stillMeasuresBetter(rows))
    return undefined
  const [first, last] = [from, from + LONG - 1].map((at) => figure(rows[at], 'step'))
  return {
    what: `the pass rate is ${percent(now, 0)} over the last ${LONG} steps, after ${percent(rate, 0)} in steps ${first} to ${last}`,
    cause: 'the steps are too long for what is left to learn: noise moves the model further than rewards do',
    advice:
      'Begin again with half the rl.learning_rate or with rl.final_share = 0.1, so that it falls; more rl.groups make less noise.',
  }
}
