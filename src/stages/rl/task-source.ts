import type { RlSettings } from './config.ts'
import { curriculumOrder, type Identified, type PassRates, tasksFrom } from './curriculum.ts'

/** Where the next task comes from. */
export interface TaskPlace {
  /** Position in the endless list of tasks. */
  place: number
  /** The step that is being filled, and how many groups were started for it. */
  step: number
  index: number
  passRates: PassRates
}

interface Sourced extends Identified {
  suite: string
}

type Order = Pick<RlSettings, 'seed' | 'curriculum'>

/**
 * Returns the task for a place; with a curriculum, one for the step. If suites are balanced, each has a list of its own, and
 * they take turns.
 */
export function taskSource<T extends Sourced>(
  tasks: readonly T[],
  { balance, ...order }: Order & Pick<RlSettings, 'balance'>,
): (at: TaskPlace) => T {
  const lists = (balance ? bySuite(tasks) : [tasks]).map((list) => listOf(list, order))
  const count = lists.length
  return ({ place, step, index, passRates }) => {
    // A curriculum starts anew in each step; starting with another suite gives none of them an extra task every time.
    const turn = order.curriculum ? step + index : place
    const at = { place: Math.floor(place / count), step, index: Math.floor(index / count), passRates }
    return lists[turn % count]!(at)
  }
}

/** Orders are kept while they are in use. */
function listOf<T extends Identified>(
  tasks: readonly T[],
  { seed, curriculum }: Order,
): (at: TaskPlace) => T {
  let [known, order]: [number, readonly T[]] = [-1, []]
  const ordered = (key: number, sort: () => readonly T[]): readonly T[] => {
    if (known !== key) [known, order] = [key, sort()]
    return order
  }
  return ({ place, step, index, passRates }) => {
    if (curriculum)
      return ordered(step, () => curriculumOrder(tasks, passRates, seed, step))[index % tasks.length]!
    const first = place - (place % tasks.length)
    return ordered(first, () => tasksFrom(tasks, seed, first, tasks.length))[place - first]!
  }
}

/** The tasks of each suite; suites by name, so that the order of the tasks has no influence. */
function bySuite<T extends Sourced>(tasks: readonly T[]): T[][] {
  const names = [...new Set(tasks.map(({ suite }) => suite))].sort()
  return names.map((name) => tasks.filter(({ suite }) => suite === name))
}
