import { fractionOf } from '../../base/random/index.ts'

/** How often a task was solved; recent rollouts count more. */
export interface Tries {
  correct: number
  wrong: number
}
/** An order depends on nothing but ids. */
export interface Identified {
  id: string
}

export type PassRates = Readonly<Record<string, Tries>>

/** Decay of earlier results: the model has changed since. */
const DECAY = 0.5
/** No task is excluded: one that is always or never solved is still sampled occasionally. */
const MIN_WEIGHT = 0.05

export function withTries(rates: PassRates, taskId: string, { correct, wrong }: Tries): PassRates {
  const before = rates[taskId] ?? { correct: 0, wrong: 0 }
  return {
    ...rates,
    [taskId]: { correct: DECAY * before.correct + correct, wrong: DECAY * before.wrong + wrong },
  }
}

/** 1 for a task solved half of the time or never tried, decreasing to the minimum on both sides. */
export function preference({ correct, wrong }: Tries = { correct: 0, wrong: 0 }): number {
  const rate = (correct + 1) / (correct + wrong + 2)
  return Math.max(MIN_WEIGHT, 4 * rate * (1 - rate))
}

/** All tasks in a random order specific to the step, with pass rates near one half more likely to come first. */
export function curriculumOrder<T extends Identified>(
  tasks: readonly T[],
  rates: PassRates,
  seed: number,
  step: number,
): T[] {
  // Weighted sampling without replacement: the largest u^(1/w) comes first (Efraimidis and Spirakis).
  const keys = new Map(
    tasks.map(({ id }) => [id, fractionOf('curriculum', seed, step, id) ** (1 / preference(rates[id]))]),
  )
  return tasks.toSorted(
    (one, other) => keys.get(other.id)! - keys.get(one.id)! || (one.id < other.id ? -1 : 1),
  )
}

/** `count` tasks from a position in an infinite list: all tasks in a random order, then all in another. */
export function tasksFrom<T extends Identified>(
  tasks: readonly T[],
  seed: number,
  place: number,
  count: number,
): T[] {
  const chosen: T[] = []
  while (chosen.length < count) {
    const next = place + chosen.length
    const order = epochOrder(tasks, seed, Math.floor(next / tasks.length))
    chosen.push(...order.slice(next % tasks.length, (next % tasks.length) + count - chosen.length))
  }
  return chosen
}

function epochOrder<T extends Identified>(tasks: readonly T[], seed: number, epoch: number): T[] {
  const keys = new Map(tasks.map(({ id }) => [id, fractionOf('epoch', seed, epoch, id)]))
  return tasks.toSorted(
    (one, other) => keys.get(one.id)! - keys.get(other.id)! || (one.id < other.id ? -1 : 1),
  )
}
