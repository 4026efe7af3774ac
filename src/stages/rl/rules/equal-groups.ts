import { percent } from '../../../base/text/index.ts'
import { mean, type Rule } from './rule.ts'

const RECENT = 3

/** Most groups teach nothing because all their rollouts are worth the same. */
export const equalGroups: Rule = (rows) => {
  if (rows.length < RECENT) return undefined
  const late = rows.slice(-RECENT)
  const share = mean(late, 'groups_equal_share')
  if (!(share >= 0.7)) return undefined
  const right = mean(late, 'groups_equal/all_right')
  const isEasy = right >= mean(late, 'groups_equal/all_wrong')
  return {
    what: `in ${percent(share, 0)} of the groups all rollouts are worth the same, most of them ${isEasy ? 'right' : 'wrong'}`,
    cause: isEasy
      ? 'the tasks are too easy for the model as it is now'
      : 'the tasks are too hard for the model as it is now',
    advice: isEasy
      ? 'Take harder tasks, set rl.curriculum, or stop here.'
      : 'Take easier tasks, train longer by SFT first, set rl.curriculum, or raise rl.group_size.',
  }
}
