import { percent } from '../../../base/text/index.ts'
import { ends, mean, metric, RECENT, type Rule, round, WINDOW } from './rule.ts'

/** Most groups give no gradient because all their rollouts have the same reward. */
export const equalGroups: Rule = (rows) => {
  if (rows.length < RECENT) return undefined
  const late = rows.slice(-RECENT)
  const share = mean(late, 'groups_equal_share')
  if (!(share >= 0.7)) return undefined
  const correct = mean(late, 'groups_equal/all_right')
  const isEasy = correct >= mean(late, 'groups_equal/all_wrong')
  return {
    what: `in ${percent(share, 0)} of the groups all rollouts have the same reward, most of them ${isEasy ? 'correct' : 'wrong'}`,
    cause: isEasy
      ? 'the tasks are too easy for the current model'
      : 'the tasks are too hard for the current model',
    advice: isEasy
      ? 'Use harder tasks, set rl.curriculum, or stop here.'
      : 'Use easier tasks, train longer with SFT first, set rl.curriculum, or raise rl.group_size.',
  }
}

/** Many rollouts are excluded because something other than the model fails. */
export const leftOut: Rule = (rows) => {
  if (rows.length < RECENT) return undefined
  const late = rows.slice(-RECENT)
  const sum = (name: string): number => late.reduce((total, row) => total + (metric(row, name) || 0), 0)
  // rl.overlong_filter and rl.void_filter exclude rollouts on purpose.
  const intended = sum('left_out/overlong') + sum('left_out/void')
  const share = (sum('left_out') - intended) / Math.max(1, sum('rollouts'))
  if (!(share >= 0.2)) return undefined
  if (sum('left_out/time') > share * sum('rollouts') * 0.5)
    return {
      what: `${percent(share, 0)} of the rollouts are left out, most of them because they exceeded rollout.max_seconds`,
      cause: 'the machine is too slow for that many concurrent rollouts, or a tool takes too long',
      advice: 'Raise rollout.max_seconds, or lower rollout.concurrency.',
    }
  const isTools = sum('left_out/environment') >= sum('left_out/undecided') + sum('left_out/unchecked')
  return {
    what: `${percent(share, 0)} of the rollouts are left out, most of them because ${isTools ? 'a tool, sandbox or server failed' : 'their answer could not be checked'}`,
    cause: isTools ? 'a tool, a sandbox or a server is broken' : 'the judge or the checker is broken',
    advice: isTools
      ? 'Check `failure` in these rollouts, and try the tools with `coa tools try`.'
      : 'Check the verdicts of these rollouts, and the [judge] settings.',
  }
}

/** Rollouts are truncated before they answer. */
export const truncatedAnswers: Rule = (rows) => {
  if (rows.length < RECENT) return undefined
  const share = mean(rows.slice(-RECENT), 'truncated_share')
  if (!(share >= 0.2)) return undefined
  return {
    what: `${percent(share, 0)} of the rollouts are cut off by a length limit`,
    cause: 'the limits are too tight for these tasks, or the model does not stop',
    advice:
      'Raise rollout.max_tokens or rollout.max_seconds, shorten observations with rollout.observation_tokens, or set rl.overlong_buffer to an eighth of rollout.max_tokens.',
  }
}

/** Rollouts get longer without getting better. */
export const lengthExplosion: Rule = (rows) => {
  const windows = ends(rows)
  if (windows === undefined) return undefined
  const [before, now] = [windows.early, windows.late].map((part) => mean(part, 'tokens_sampled_mean'))
  const gain = mean(windows.late, 'pass_rate') - mean(windows.early, 'pass_rate')
  if (!(now! >= 2 * before! && gain < 0.05)) return undefined
  return {
    what: `rollouts have ${round(now!)} sampled tokens, up from ${round(before!)}, at no higher accuracy`,
    cause: 'length is not penalized, or repetition is rewarded',
    advice: 'Set rl.overlong_buffer, lower rollout.max_same_call, and inspect the longest rollouts.',
  }
}

/** Sampler and learner disagree on the same tokens, although they should have the same weights. */
export const samplerMismatch: Rule = (rows) => {
  if (rows.length < RECENT) return undefined
  const late = rows.slice(-RECENT)
  const [mismatch, capped] = [mean(late, 'mismatch_mean'), mean(late, 'importance_capped_share')]
  if (mean(late, 'staleness') > 0 || !(mismatch >= 0.05 || capped >= 0.1)) return undefined
  return {
    what: `sampler and learner differ by ${round(mismatch)} nats per token on the same text; the importance weight of ${percent(capped, 0)} was capped`,
    cause: 'they use different kernels or precision, or do not have the same weights',
    advice:
      'Run `coa engine contract` on this engine, set rl.old_logprobs to "learner", and keep rollout.top_p at 1.',
  }
}

/** With overlap, the weights have moved too far from those that sampled the rollouts. */
export const offPolicy: Rule = (rows) => {
  if (rows.length < RECENT) return undefined
  const late = rows.slice(-RECENT)
  const [mismatch, capped] = [mean(late, 'mismatch_mean'), mean(late, 'importance_capped_share')]
  const behind = mean(late, 'staleness')
  if (!(behind > 0 && (mismatch >= 0.2 || capped >= 0.1))) return undefined
  return {
    what: `the model differs by ${round(mismatch)} nats per token from the weights that sampled the rollouts, ${round(behind)} steps before; the importance weight of ${percent(capped, 0)} was capped`,
    cause: 'the updates are large for rollouts this old',
    advice: 'Set a smaller rl.overlap, or a lower rl.learning_rate.',
  }
}

/** The model always writes the same text while it could still improve. */
export const entropyCollapse: Rule = (rows) => {
  const windows = ends(rows)
  if (windows === undefined) return undefined
  const before = mean(windows.early, 'entropy')
  const now = mean(windows.late, 'entropy')
  const passes = mean(windows.late, 'pass_rate')
  // A model that improves becomes more confident too; that is fine.
  const gain = passes - mean(rows.slice(-2 * WINDOW, -WINDOW), 'pass_rate')
  if (!(now < 0.25 * before && passes < 0.9 && gain < 0.02)) return undefined
  return {
    what: `the entropy per token is ${round(now)} nats, down from ${round(before)}, at a pass rate of ${percent(passes, 0)}`,
    cause: 'likely tokens were reinforced until nothing else is sampled',
    advice:
      'Raise rl.clip_high a little (0.28 is usual), and restart with a lower rl.learning_rate or rl.kl = 0.001.',
  }
}
