import type { Task } from '../../schema/index.ts'

/** Answers that a task's own checker must accept. None where the data set gives no solution to run. */
export function rightAnswers({ gold, meta }: Task): string[] {
  switch (gold.checker) {
    case 'exact':
      return gold.answers
    case 'math':
      return [gold.answer, `The result is $\\boxed{${gold.answer}}$.`]
    case 'judge':
      return [gold.answer]
    case 'code': {
      const solution = referenceSolution(meta)
      return solution === undefined ? [] : [solution]
    }
  }
}

/** Readers keep a solution in `meta.solution`, generators in `meta.program.solution`. */
export function referenceSolution(meta: Task['meta']): string | undefined {
  const { solution, program } = meta
  if (typeof solution === 'string') return solution
  if (typeof program !== 'object' || program === null || Array.isArray(program)) return undefined
  return typeof program['solution'] === 'string' ? program['solution'] : undefined
}
