import { percent } from '../../../base/text/index.ts'
import { figure, type Rule } from './rule.ts'

const RECENT = 3

/** Many rollouts say nothing about the model, because something around it fails. */
export const leftOut: Rule = (rows) => {
  if (rows.length < RECENT) return undefined
  const late = rows.slice(-RECENT)
  const sum = (name: string): number => late.reduce((total, row) => total + (figure(row, name) || 0), 0)
  // What rl.overlong_filter takes out is meant to be out.
  const share = (sum('left_out') - sum('left_out/overlong')) / Math.max(1, sum('rollouts'))
  if (!(share >= 0.2)) return undefined
  if (sum('left_out/time') > share * sum('rollouts') * 0.5)
    return {
      what: `${percent(share, 0)} of the rollouts are left out, most of them because rollout.max_seconds ended them`,
      cause: 'the machine is too slow for so many rollouts at a time, or a tool takes too long',
      advice: 'Raise rollout.max_seconds, or lower rollout.concurrency.',
    }
  const isTools = sum('left_out/environment') >= sum('left_out/undecided') + sum('left_out/unchecked')
  return {
    what: `${percent(share, 0)} of the rollouts are left out, most of them because ${isTools ? 'something around the model failed' : 'their answer could not be checked'}`,
    cause: isTools ? 'a tool, a sandbox or a server does not work' : 'the judge or the checker does not work',
    advice: isTools
      ? 'Look at `failure` of these rollouts, and try the tools with `coa tools try`.'
      : 'Look at the verdicts of these rollouts, and at the settings of [judge].',
  }
}
