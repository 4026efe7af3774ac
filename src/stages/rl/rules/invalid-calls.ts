import { percent } from '../../../base/text/index.ts'
import { ends, mean, type Rule } from './rule.ts'

/** Calls that cannot be read become more. */
export const invalidCalls: Rule = (rows) => {
  const windows = ends(rows)
  if (windows === undefined) return undefined
  const before = mean(windows.early, 'malformed_share')
  const now = mean(windows.late, 'malformed_share')
  if (!(now >= 0.05 && now >= 1.5 * before && now - before >= 0.03)) return undefined
  return {
    what: `${percent(now, 0)} of the tool calls cannot be read, after ${percent(before, 0)} at the beginning`,
    cause: 'the reward does not see the form of a call, or the steps are too large and the format is lost',
    advice:
      'Set rollout.constrained, or rl.format_penalty to about 0.2, or halve rl.learning_rate and begin again with --again.',
  }
}
