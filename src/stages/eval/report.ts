import { UsageError } from '../../base/errors/index.ts'
import type { EvalAttempt, EvalReport } from '../../schema/index.ts'
import { type Item, itemsOf, outcomeOf } from './outcome.ts'
import { pairReport } from './pair-report.ts'
import type { ReportSettings } from './prices.ts'
import { solverReport } from './solver-report.ts'

export interface ReportOptions {
  id: string
  /** In display order; the others are compared with the first. */
  solvers: readonly string[]
  settings: ReportSettings
}

/** Computes a report from attempts alone, so it can be reproduced from the log at any time. */
export function reportOf(
  attempts: readonly EvalAttempt[],
  { id, solvers, settings }: ReportOptions,
): EvalReport {
  const items = solvers.map((solver) => itemsOf(attempts, solver))
  const empty = solvers.find((_, at) => items[at]!.length === 0)
  if (empty !== undefined || items.length === 0) {
    throw new UsageError(`there are no attempts by ${empty ?? 'any solver'}`, {
      fix: 'Run `coa eval` first, and name solvers of this run.',
    })
  }
  const tasks = tasksOf(items)
  const byTask = items.map((own) => new Map(own.map((item) => [item.taskId, item])))
  const suites = [...new Set(tasks.map(({ suite }) => suite))]
  return {
    v: 1,
    id,
    settings,
    suites: suites.map((suite) => ({
      suite,
      tasks: tasks.filter((task) => task.suite === suite).length,
    })),
    solvers: items.map((own) => solverReport(own, settings)),
    pairs: items.slice(1).map((own) => pairReport(items[0]!, own, settings)),
    items: tasks.map(({ taskId, suite, level, hops }) => ({
      taskId,
      suite,
      ...(level === undefined ? {} : { level }),
      ...(hops === undefined ? {} : { hops }),
      outcomes: Object.fromEntries(
        solvers.flatMap((solver, at) => {
          const own = byTask[at]!.get(taskId)
          return own === undefined ? [] : [[solver, own.attempts.map((one) => outcomeOf(one)[0]).join('')]]
        }),
      ),
    })),
  }
}

/** Every task that any solver attempted, in order. */
function tasksOf(items: readonly (readonly Item[])[]): Item[] {
  const tasks = new Map(items.flat().map((item) => [item.taskId, item]))
  return [...tasks.values()].sort((one, other) => one.position - other.position)
}
