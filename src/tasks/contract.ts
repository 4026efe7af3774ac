import type { Task } from '../schema/index.ts'

export type Split = NonNullable<Task['split']>

/** Which of a generator's tasks is meant. The same request gives the same task, on every machine. */
export interface TaskRequest {
  seed: number
  split: Split
  /** From 0, without end. */
  index: number
  /** How hard, within the generator's levels. Left out, levels take turns. */
  level?: number
}

/**
 * Makes tasks without end. What a task needs to be solved is in `meta.program`, so that a scripted expert can
 * play every role; the gold answer follows from the program and never from a model.
 */
export interface TaskGenerator {
  name: string
  description: string
  /** The grammar its tasks are meant to be solved in. */
  domain: string
  /** Lowest and highest difficulty. */
  levels: readonly [number, number]
  task(request: TaskRequest): Task
  /** An answer of the right shape that is wrong, for trying the checker. */
  wrongAnswer(task: Task): string
  /** The answer a perfect solver would hand in. */
  rightAnswer(task: Task): string
}
