import { percent } from '../../../base/text/index.ts'
import type { MetricRow } from '../../../store/index.ts'
import { ends, mean, type Rule, round } from './rule.ts'

/** One tool replaces the others. */
export const oneToolOverused: Rule = (rows) => {
  const windows = ends(rows)
  if (windows === undefined) return undefined
  const before = sharesOf(windows.early)
  const now = sharesOf(windows.late)
  for (const [tool, share] of now) {
    const earlier = before.get(tool) ?? 0
    if (before.size < 2 || share < 0.85 || share - earlier < 0.2) continue
    return {
      what: `${percent(share, 0)} of all calls are now of ${tool}, up from ${percent(earlier, 0)}`,
      cause: 'recent tasks need only this tool, or calling it is rewarded even if it does not help',
      advice: 'Mix tasks that need the other tools, and check what rl.tool_bonus adds for this one.',
    }
  }
  return undefined
}

/** Tools are used less and less. */
export const toolsAbandoned: Rule = (rows) => {
  const windows = ends(rows)
  if (windows === undefined) return undefined
  const before = mean(windows.early, 'turns_mean')
  const now = mean(windows.late, 'turns_mean')
  if (!(before >= 0.5 && now < 0.3 * before)) return undefined
  return {
    what: `rollouts make ${round(now)} tool calls on average, down from ${round(before)}`,
    cause:
      'guessing pays as well as using tools: an outcome-only reward teaches the model to skip tools that often fail',
    advice:
      'Leave out tasks that are solved without tools, set rl.tool_bonus to about 0.1, and check tool_error_share.',
  }
}

/** Each tool's share of the calls. */
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

/** Malformed calls become more frequent. */
export const invalidCalls: Rule = (rows) => {
  const windows = ends(rows)
  if (windows === undefined) return undefined
  const before = mean(windows.early, 'malformed_share')
  const now = mean(windows.late, 'malformed_share')
  if (!(now >= 0.05 && now >= 1.5 * before && now - before >= 0.03)) return undefined
  return {
    what: `${percent(now, 0)} of the tool calls are malformed, up from ${percent(before, 0)}`,
    cause:
      'the reward ignores the format of calls, or the updates are too large and the model forgets the format',
    advice:
      'Set rollout.constrained, or rl.format_penalty to about 0.2, or halve rl.learning_rate and restart with --again.',
  }
}
