import { percent } from '../../../base/text/index.ts'
import { ends, mean, type Rule, round, WINDOW } from './rule.ts'

/** The model always writes the same while it could still learn. */
export const entropyCollapse: Rule = (rows) => {
  const windows = ends(rows)
  if (windows === undefined) return undefined
  const before = mean(windows.early, 'entropy')
  const now = mean(windows.late, 'entropy')
  const passes = mean(windows.late, 'pass_rate')
  // A model that gets better becomes surer too, and that is as it should be.
  const gain = passes - mean(rows.slice(-2 * WINDOW, -WINDOW), 'pass_rate')
  if (!(now < 0.25 * before && passes < 0.9 && gain < 0.02)) return undefined
  return {
    what: `the entropy of a token is ${round(now)} nats, after ${round(before)} at the beginning, and ${percent(passes, 0)} are right`,
    cause: 'what was likely was made likelier until nothing else is tried',
    advice:
      'Raise rl.clip_high a little (0.28 is usual), and begin again with a lower rl.learning_rate or rl.kl at 0.001.',
  }
}
