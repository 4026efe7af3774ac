import type { EvalAttempt } from '../../schema/index.ts'

export type Outcome = 'correct' | 'wrong' | 'undecided' | 'failed'

/** The outcome of an attempt. If something outside failed, the verdict does not matter. */
export function outcomeOf({ failure, verdict }: Pick<EvalAttempt, 'failure' | 'verdict'>): Outcome {
  return failure === undefined ? verdict.outcome : 'failed'
}

export function isCorrect(attempt: EvalAttempt): boolean {
  return outcomeOf(attempt) === 'correct'
}

export function isDecided(attempt: EvalAttempt): boolean {
  return ['correct', 'wrong'].includes(outcomeOf(attempt))
}

/** All attempts of one solver at one task, in order. */
export interface Item {
  taskId: string
  position: number
  suite: string
  level?: number | undefined
  hops?: number | undefined
  attempts: EvalAttempt[]
}

/** Attempts of one solver by task, in task order. */
export function itemsOf(attempts: Iterable<EvalAttempt>, solver: string): Item[] {
  const items = new Map<string, Item>()
  for (const attempt of attempts) {
    if (attempt.solver !== solver) continue
    const { taskId, position, suite, level, hops } = attempt
    const item = items.get(taskId) ?? { taskId, position, suite, level, hops, attempts: [] }
    item.attempts.push(attempt)
    items.set(taskId, item)
  }
  for (const { attempts: own } of items.values()) own.sort((one, other) => one.attempt - other.attempt)
  return [...items.values()].sort((one, other) => one.position - other.position)
}

export function withoutFailures(item: Item): Item {
  return { ...item, attempts: item.attempts.filter(({ failure }) => failure === undefined) }
}
