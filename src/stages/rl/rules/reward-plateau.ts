import { percent } from '../../../base/text/index.ts'
import { LONG, noise, stillMeasuresBetter } from './progress.ts'
import { rewardFalls } from './reward-falls.ts'
import { mean, type Rule } from './rule.ts'

/** The reward no longer rises although there is room above it. */
export const rewardPlateau: Rule = (rows) => {
  if (rows.length < 2 * LONG) return undefined
  const late = rows.slice(-LONG)
  const before = mean(rows.slice(-2 * LONG, -LONG), 'pass_rate')
  const now = mean(late, 'pass_rate')
  if (!(now < 0.9 && now - before < 2 * noise(rows.slice(-2 * LONG)))) return undefined
  if (stillMeasuresBetter(rows) || rewardFalls(rows) !== undefined) return undefined
  const [easy, hard] = ['groups_equal/all_right', 'groups_equal/all_wrong'].map((name) => mean(late, name))
  const what = `the pass rate has stood at about ${percent(now, 0)} for ${LONG} steps (${percent(before, 0)} in the ${LONG} before)`
  if (easy! > 2 * hard!)
    return {
      what,
      cause: 'the query filter is too loose: most tasks that are left to learn from are solved every time',
      advice: 'Leave out tasks that are always solved (rl.pass_rate), add harder ones, or set rl.curriculum.',
    }
  if (hard! > 2 * easy!)
    return {
      what,
      cause: 'the query filter is too strict, or the tasks are too hard: most are not solved in any try',
      advice:
        'Let easier tasks in, leave out those that are never solved (rl.pass_rate), set rl.curriculum, raise rl.group_size, or give credit for parts with rl.partial.',
    }
  return {
    what,
    cause: 'the steps are too small, or what separates right from wrong is not in what the model can do',
    advice: 'Raise rl.learning_rate or rl.groups, and look at wrong rollouts of the last steps.',
  }
}
