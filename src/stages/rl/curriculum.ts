import { fractionOf } from '../../base/random/index.ts'
import type { Task } from '../../schema/index.ts'

/** How often a task was solved, newer tries counting more. */
export interface Tries {
  correct: number
  wrong: number
}
export type PassRates = Readonly<Record<string, Tries>>

/** What was tried before counts half: the model has changed since. */
const FADING = 0.5
/** No task is given up: one that is always or never solved is still drawn now and then. */
const LEAST_WEIGHT = 0.05

export function withTries(rates: PassRates, taskId: string, { correct, wrong }: Tries): PassRates {
  const before = rates[taskId] ?? { correct: 0, wrong: 0 }
  return {
    ...rates,
    [taskId]: { correct: FADING * before.correct + correct, wrong: FADING * before.wrong + wrong },
  }
}

/** 1 for a task solved half of the time or never tried, falling to the least weight on both sides. */
export function preference({ correct, wrong }: Tries = { correct: 0, wrong: 0 }): number {
  const rate = (correct + 1) / (correct + wrong + 2)
  return Math.max(LEAST_WEIGHT, 4 * rate * (1 - rate))
}

/** All tasks in a random order of the step's own, those with a pass rate near the middle rather at its beginning. */
export function curriculumOrder(
  tasks: readonly Task[],
  rates: PassRates,
  seed: number,
  step: number,
): Task[] {
  // Drawn without replacement by weight: the largest u^(1/w) comes first (Efraimidis and Spirakis).
  const keys = new Map(
    tasks.map(({ id }) => [id, fractionOf('curriculum', seed, step, id) ** (1 / preference(rates[id]))]),
  )
  return tasks.toSorted(
    (one, other) => keys.get(other.id)! - keys.get(one.id)! || (one.id < other.id ? -1 : 1),
  )
}

/** `count` tasks from a place of an endless list on: all tasks in a random order, then all in another. */
export function tasksFrom(tasks: readonly Task[], seed: number, place: number, count: number): Task[] {
  const drawn: Task[] = []
  while (drawn.length < count) {
    const next = place + drawn.length
    const order = epochOrder(tasks, seed, Math.floor(next / tasks.length))
    drawn.push(...order.slice(next % tasks.length, (next % tasks.length) + count - drawn.length))
  }
  return drawn
}

function epochOrder(tasks: readonly Task[], seed: number, epoch: number): Task[] {
  const keys = new Map(tasks.map(({ id }) => [id, fractionOf('epoch', seed, epoch, id)]))
  return tasks.toSorted(
    (one, other) => keys.get(one.id)! - keys.get(other.id)! || (one.id < other.id ? -1 : 1),
  )
}
