import { drawn } from './drawn.ts'

/**
 * Tasks that are kept out of training. All sequences of a task are on the same side. Of few tasks at least one is kept
 * out and at least one trained on, unless the share is 0.
 */
export function heldOutTasks(taskIds: Iterable<string>, share: number, seed: number): Set<string> {
  const tasks = drawn(taskIds, seed, 'held out')
  if (share === 0 || tasks.length < 2) return new Set()
  const below = tasks.filter(({ at }) => at < share).length
  const count = Math.min(Math.max(below, 1), tasks.length - 1)
  return new Set(tasks.slice(0, count).map(({ id }) => id))
}
