import type { Task } from '../../schema/index.ts'

/** The solution that a task is annotated with: GSM8K's worked solution, MBPP's program. */
export function solutionOf({ meta }: Pick<Task, 'meta'>): string | undefined {
  const { solution } = meta
  return typeof solution === 'string' && solution.trim() !== '' ? solution.trim() : undefined
}

/** What an agent is told about the solution. It must not speak of it: the single agent that learns from its words has no hint. */
export function hintOf(task: Pick<Task, 'meta' | 'gold'>): string | undefined {
  const solution = solutionOf(task)
  if (solution === undefined) return undefined
  // GSM8K's notes for a calculator: 48/2 = <<48/2=24>>24. In a program, << is an operator.
  const text = task.gold.checker === 'code' ? solution : solution.replace(/<<[^<>\n]{1,200}>>/g, '')
  return (
    'Hint, for you alone: this is a solution of the question. Understand it, and lead the work so that it gets there with its ' +
    'own steps and tools. Never mention the hint, never copy it, and do not give its result before the work has found ' +
    `it.\n\n${text}\n\n(End of the hint.)`
  )
}
