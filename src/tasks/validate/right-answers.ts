import type { Task } from '../../schema/index.ts'
import { madeBy } from '../suites/index.ts'

/** Answers that a task's own checker must accept. Empty if the data set has no solution to run. */
export function rightAnswers(task: Task): string[] {
  const { gold } = task
  switch (gold.checker) {
    case 'exact':
      return gold.answers
    case 'math':
      return [gold.answer, `The result is $\\boxed{${gold.answer}}$.`]
    case 'judge':
      return [gold.answer]
    case 'code': {
      const solution = referenceSolution(task)
      return solution === undefined ? [] : [solution]
    }
  }
}

/** Readers keep a solution in `meta.solution`, suites in their program. */
export function referenceSolution(task: Task): string | undefined {
  const { solution } = task.meta
  if (typeof solution === 'string') return solution
  const made = madeBy(task)
  return made?.suite.solution?.(made.program)
}
