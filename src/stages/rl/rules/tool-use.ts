import { percent } from '../../../base/text/index.ts'
import type { MetricRow } from '../../../store/index.ts'
import { ends, mean, type Rule, round } from './rule.ts'

/** One tool takes the place of the others. */
export const oneToolOverused: Rule = (rows) => {
  const windows = ends(rows)
  if (windows === undefined) return undefined
  const before = sharesOf(windows.early)
  const now = sharesOf(windows.late)
  for (const [tool, share] of now) {
    const earlier = before.get(tool) ?? 0
    if (before.size < 2 || share < 0.85 || share - earlier < 0.2) continue
    return {
      what: `${percent(share, 0)} of all calls are now of ${tool}, after ${percent(earlier, 0)} at the beginning`,
      cause: 'the tasks seen lately need only this tool, or calling it is rewarded whether it helps or not',
      advice: 'Mix tasks that need the other tools, and look at what rl.tool_bonus adds for this one.',
    }
  }
  return undefined
}

/** Tools are called ever less. */
export const toolsAbandoned: Rule = (rows) => {
  const windows = ends(rows)
  if (windows === undefined) return undefined
  const before = mean(windows.early, 'turns_mean')
  const now = mean(windows.late, 'turns_mean')
  if (!(before >= 0.5 && now < 0.3 * before)) return undefined
  return {
    what: `a rollout makes ${round(now)} tool calls, after ${round(before)} at the beginning`,
    cause:
      'guessing pays as well as looking: a reward for the outcome alone teaches to skip tools that often fail',
    advice:
      'Leave out tasks that are solved without tools, set rl.tool_bonus to about 0.1, and look at tool_error_share.',
  }
}

/** What share of the calls each tool had. */
function sharesOf(rows: readonly MetricRow[]): Map<string, number> {
  const counts = new Map<string, number>()
  let all = 0
  for (const row of rows)
    for (const [name, count] of Object.entries(row)) {
      const tool = /^calls\/(.+)\/[^/]+$/.exec(name)?.[1]
      if (tool === undefined || typeof count !== 'number') continue
      counts.set(tool, (counts.get(tool) ?? 0) + count)
      all += count
    }
  return new Map([...counts].map(([tool, count]) => [tool, count / Math.max(1, all)]))
}
