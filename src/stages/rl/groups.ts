import { UsageError } from '../../base/errors/index.ts'
import type { Rollout } from '../../schema/index.ts'

/** A rollout with a verdict. */
export interface Scored {
  rollout: Rollout
  reward: number
  isCorrect: boolean
}

/** Rollouts of one prompt, which are compared with each other. */
export interface Group {
  id: string
  taskId: string
  members: Scored[]
}

/** Groups by group id, in order of first appearance. A row without an id is refused, never guessed. */
export function groupsOf(rows: readonly Scored[]): Group[] {
  const groups = new Map<string, Group>()
  for (const row of rows) {
    const { id, groupId, taskId } = row.rollout
    if (typeof groupId !== 'string' || groupId === '')
      throw new UsageError(`rollout ${id} has no group id`, {
        fix: 'Give all rollouts of one prompt the same groupId; without it rewards of different prompts would be compared.',
      })
    const group = groups.get(groupId)
    if (group === undefined) groups.set(groupId, { id: groupId, taskId, members: [row] })
    else if (group.taskId === taskId) group.members.push(row)
    else
      throw new UsageError(`group ${groupId} holds rollouts of ${group.taskId} and of ${taskId}`, {
        fix: 'A group is one prompt: give each its own groupId.',
      })
  }
  return [...groups.values()]
}

export interface Statistics {
  count: number
  mean: number
  /** Unbiased (divided by n − 1); 0 for fewer than two values. */
  std: number
  /** Divided by n. */
  populationStd: number
}

export function statisticsOf(values: readonly number[]): Statistics {
  const count = values.length
  const first = values[0]
  if (first === undefined) return { count, mean: 0, std: 0, populationStd: 0 }
  // Rounding must not create variance where there is none.
  if (values.every((value) => value === first)) return { count, mean: first, std: 0, populationStd: 0 }
  const mean = values.reduce((sum, value) => sum + value, 0) / count
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return { count, mean, std: Math.sqrt(squares / (count - 1)), populationStd: Math.sqrt(squares / count) }
}
