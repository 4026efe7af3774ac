import { fractionOf } from '../tasks/index.ts'

/**
 * Tasks that are kept out of training. All sequences of a task are on the same side. Of few tasks at least one is kept
 * out and at least one trained on, unless the share is 0.
 */
export function heldOutTasks(taskIds: Iterable<string>, share: number, seed: number): Set<string> {
  const drawn = [...new Set(taskIds)].map((id) => ({ id, at: fractionOf(seed, 'held out', id) }))
  drawn.sort((left, right) => left.at - right.at || (left.id < right.id ? -1 : 1))
  if (share === 0 || drawn.length < 2) return new Set()
  const below = drawn.filter(({ at }) => at < share).length
  const count = Math.min(Math.max(below, 1), drawn.length - 1)
  return new Set(drawn.slice(0, count).map(({ id }) => id))
}
