import { percent } from '../../../base/text/index.ts'
import { ends, mean, type Rule, round } from './rule.ts'

/** Steps of which all must be bad before something is said that needs no comparison. */
const RECENT = 3

/** Rollouts are cut off before they answer. */
export const truncatedAnswers: Rule = (rows) => {
  if (rows.length < RECENT) return undefined
  const share = mean(rows.slice(-RECENT), 'truncated_share')
  if (!(share >= 0.2)) return undefined
  return {
    what: `${percent(share, 0)} of the rollouts are cut off by a limit before they end`,
    cause: 'the limits are too tight for these tasks, or the model does not stop',
    advice:
      'Raise rollout.max_tokens or rollout.max_seconds, shorten observations with rollout.observation_tokens, or set rl.overlong_buffer to an eighth of rollout.max_tokens.',
  }
}

/** Longer and longer, and no better for it. */
export const lengthExplosion: Rule = (rows) => {
  const windows = ends(rows)
  if (windows === undefined) return undefined
  const [before, now] = [windows.early, windows.late].map((part) => mean(part, 'tokens_sampled_mean'))
  const gain = mean(windows.late, 'pass_rate') - mean(windows.early, 'pass_rate')
  if (!(now! >= 2 * before! && gain < 0.05)) return undefined
  return {
    what: `rollouts have ${round(now!)} sampled tokens, after ${round(before!)} at the beginning, and are right no more often`,
    cause: 'length costs nothing, or repeating something is mistaken for work',
    advice: 'Set rl.overlong_buffer, lower rollout.max_same_call, and look at the longest rollouts.',
  }
}
