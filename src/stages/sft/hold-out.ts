import { drawn } from './drawn.ts'

/** The loss on fewer tasks than this says little about which checkpoint is the best. */
const LEAST = 8
/** Where holding out so few would take more than one task in this many from training, none is held out. */
const ONE_IN = 4

/**
 * Tasks that are kept out of training, to choose the best checkpoint by: a share of them and at least eight. All
 * sequences of a task are on the same side. With fewer than 32 tasks a share below eight holds out nothing: the last
 * checkpoint is then the one that is kept.
 */
export function heldOutTasks(taskIds: Iterable<string>, share: number, seed: number): Set<string> {
  const tasks = drawn(taskIds, seed, 'held out')
  const wanted = Math.ceil(share * tasks.length)
  const few = tasks.length < ONE_IN * LEAST ? 0 : LEAST
  const count = share === 0 ? 0 : wanted >= LEAST ? wanted : few
  return new Set(tasks.slice(0, Math.min(count, tasks.length - 1)).map(({ id }) => id))
}
