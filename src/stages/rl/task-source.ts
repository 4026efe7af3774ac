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

/** Returns the task for a place; with a curriculum, one for the step. Orders are kept while they are in use. */
export function taskSource<T extends Identified>(
  tasks: readonly T[],
  { seed, curriculum }: Pick<RlSettings, 'seed' | 'curriculum'>,
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
