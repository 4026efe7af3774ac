import type { EvalReport } from '../../schema/index.ts'
import { mcnemar, meanOf } from '../../stages/eval/statistics.ts'
import type { EvalDiff, EvalItem, EvalRow, EvalView, Page } from '../api.ts'
import { Problem } from '../problem.ts'
import type { OpenRun, OpenRuns } from './open-runs.ts'
import { cursorOf, type Query } from './query.ts'
import { missing } from './records.ts'

/** Reports are kept in memory while nothing is appended: each may have thousands of items. */
const MOST_KEPT = 4
/** Of each list of items of a difference. */
const MOST_ITEMS = 500
const RESAMPLING = { resamples: 1000, seed: 1 }

interface Side {
  run: string
  id: string
  solver: string
  items: EvalReport['items']
  accuracy: EvalDiff['before']['accuracy']
}

export class Evals {
  readonly #known = new Map<string, { records: number; report: EvalReport }>()

  list({ run }: OpenRun): Page<EvalRow> {
    return {
      rows: run.list('eval').map(({ id, items, solvers }) => ({
        id,
        tasks: items.length,
        solvers: solvers.map(({ name, kind, accuracy }) => ({ name, kind, accuracy: accuracy.strict })),
      })),
    }
  }

  one(open: OpenRun, id: string): EvalView {
    const { suites, solvers, pairs, items } = this.#report(open, id)
    return {
      id,
      suites,
      solvers,
      pairs,
      tasks: items.length,
      disagreements: items.filter(disagree).length,
    }
  }

  items(open: OpenRun, id: string, query: Query): Page<EvalItem> {
    const { items } = this.#report(open, id)
    const suite = query.text('suite')
    const only = query.choice('only', ['disagreements'])
    const text = query.text('search')?.toLowerCase()
    const question = questionsOf(open)
    const found = items.filter(
      (item) =>
        (suite === undefined || item.suite === suite) &&
        (only === undefined || disagree(item)) &&
        (text === undefined || `${item.taskId} ${question(item.taskId)}`.toLowerCase().includes(text)),
    )
    const from = Number(query.cursor?.[0] ?? 0)
    const until = from + query.limit
    return {
      rows: found.slice(from, until).map((item) => withQuestion(item, question)),
      ...(until < found.length ? { next: cursorOf(until) } : {}),
      total: found.length,
    }
  }

  diff(runs: OpenRuns, query: Query): EvalDiff {
    const before = this.#side(runs, query.required('before'))
    const after = this.#side(runs, query.required('after'))
    const others = new Map(after.items.map((item) => [item.taskId, item]))
    const shared = before.items.flatMap((item) => {
      const other = others.get(item.taskId)
      const [one, two] = [isCorrect(item, before.solver), other && isCorrect(other, after.solver)]
      return other === undefined || one === undefined || two === undefined ? [] : [{ item, other, one, two }]
    })
    const gained = shared.filter(({ one, two }) => !one && two)
    const lost = shared.filter(({ one, two }) => one && !two)
    const differences = shared.map(({ one, two }) => Number(two) - Number(one))
    const question = questionsOf(runs.get(after.run))
    const view = (found: typeof shared): EvalItem[] =>
      found.slice(0, MOST_ITEMS).map(({ item, other }) =>
        withQuestion(
          {
            ...item,
            outcomes: {
              before: item.outcomes[before.solver] ?? '',
              after: other.outcomes[after.solver] ?? '',
            },
          },
          question,
        ),
      )
    return {
      before: sideOf(before),
      after: sideOf(after),
      shared: shared.length,
      gained: view(gained),
      lost: view(lost),
      difference: shared.length === 0 ? null : meanOf(differences, RESAMPLING),
      p: mcnemar(lost.length, gained.length),
    }
  }

  #side(runs: OpenRuns, name: string): Side {
    const [run, id, solver] = name.split('/').map(decodeURIComponent)
    if (run === undefined || id === undefined || solver === undefined)
      throw new Problem(400, `${JSON.stringify(name.slice(0, 200))} is not RUN/EVAL/SOLVER`)
    const { items, solvers } = this.#report(runs.get(run), id)
    const found = solvers.find((one) => one.name === solver)
    if (found === undefined) throw missing('solver', solver)
    return { run, id, solver, items, accuracy: found.accuracy.strict }
  }

  #report({ run }: OpenRun, id: string): EvalReport {
    const key = `${run.dir} ${id}`
    const records = run.count('attempt') + run.count('eval')
    const known = this.#known.get(key)
    if (known?.records === records) return known.report
    const report = run.get('eval', id)
    if (report === undefined) throw missing('evaluation', id)
    this.#known.delete(key)
    this.#known.set(key, { records, report })
    if (this.#known.size > MOST_KEPT) this.#known.delete(this.#known.keys().next().value!)
    return report
  }
}

function sideOf({ run, id, solver, accuracy }: Side): EvalDiff['before'] {
  return { run, eval: id, solver, accuracy }
}

/** By the first attempt; undefined if it was not made, or says nothing. */
function isCorrect({ outcomes }: EvalReport['items'][number], solver: string): boolean | undefined {
  const first = outcomes[solver]?.[0]
  return first === 'c' ? true : first === 'w' ? false : undefined
}

/** Solvers whose first attempts came out differently. */
function disagree({ outcomes }: EvalReport['items'][number]): boolean {
  return new Set(Object.values(outcomes).map((letters) => letters[0])).size > 1
}

function questionsOf({ index }: OpenRun): (taskId: string) => string {
  return (taskId) =>
    index.get<{ question: string }>('SELECT question FROM task WHERE id = ?', taskId)?.question ?? ''
}

function withQuestion(item: EvalReport['items'][number], question: (taskId: string) => string): EvalItem {
  const { level, hops, taskId, suite, outcomes } = item
  return {
    taskId,
    suite,
    ...(level === undefined ? {} : { level }),
    ...(hops === undefined ? {} : { hops }),
    question: question(taskId),
    outcomes,
  }
}
