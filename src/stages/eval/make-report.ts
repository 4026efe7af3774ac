import { join } from 'node:path'
import { UsageError } from '../../base/errors/index.ts'
import type { EvalAttempt, EvalReport } from '../../schema/index.ts'
import type { ProjectSection } from '../../settings/index.ts'
import {
  checkPathName,
  type Run,
  withJsonChecksum,
  withTextChecksum,
  writeReportFile,
} from '../../store/index.ts'
import { describeReport } from './markdown.ts'
import { type Item, itemsOf, outcomeOf } from './outcome.ts'
import { drawReport } from './page.ts'
import { pairReport } from './pair-report.ts'
import type { ReportSettings } from './prices.ts'
import type { EvalSection } from './settings.ts'
import { solverReport } from './solver-report.ts'

/** The name of the eval stage's report, and the default name. */
const ID = 'eval'

/** The report of the eval stage; undefined if there is none yet. */
export function evalReportOf(run: Pick<Run, 'get'>): EvalReport | undefined {
  return run.get('eval', ID)
}

export interface MakeReportOptions {
  /** In display order; the others are compared with the first. */
  solvers: readonly string[]
  id?: string
  /** Only these tasks. Default: all attempted ones. */
  tasks?: ReadonlySet<string>
  /** Maximum number of attempts per task. Default: all. */
  attempts?: number
}

/**
 * Makes the evaluation report of a run from its attempts and stores it, both as a record and as files in `eval/`.
 *
 * @example
 * import { makeEvalReport, openRun, ProjectConfig } from 'chain-of-agents'
 *
 * using run = openRun('runs/my-eval', { write: true })
 * const { report } = makeEvalReport(ProjectConfig.parse({}), run, { solvers: ['baseline', 'student'] })
 * console.log(report.solvers.map(({ name, accuracy }) => [name, accuracy.strict.value]))
 */
export function makeReport(
  config: { project: ProjectSection; eval: EvalSection },
  run: Run,
  { solvers, id = ID, tasks, attempts = Number.POSITIVE_INFINITY }: MakeReportOptions,
): { report: EvalReport; files: ReportFiles } {
  const { resamples, prices, picker } = config.eval
  const counted = [...run.scan('attempt')].filter(
    ({ taskId, attempt }) => (tasks?.has(taskId) ?? true) && attempt < attempts,
  )
  const settings = { seed: config.project.seed, resamples, prices, picker }
  const report = reportOf(counted, { id, solvers, settings })
  run.append('eval', report)
  return { report, files: writeReport(run.files.eval, report) }
}

interface ReportOptions {
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

export interface ReportFiles {
  json: string
  markdown: string
  page: string
}

function reportFiles(folder: string, id: string): ReportFiles {
  const name = checkPathName(id, 'a report')
  return {
    json: join(folder, `${name}.json`),
    markdown: join(folder, `${name}.md`),
    page: join(folder, `${name}.html`),
  }
}

/** Writes the report in three formats. Each file is replaced atomically. */
export function writeReport(folder: string, report: EvalReport): ReportFiles {
  const files = reportFiles(folder, report.id)
  writeReportFile(files.json, withJsonChecksum(JSON.stringify(report, null, 2)))
  writeReportFile(files.markdown, withTextChecksum(describeReport(report), 'html'))
  writeReportFile(files.page, withTextChecksum(drawReport(report), 'html'))
  return files
}

/** The summary of a report in the run's manifest. */
export function reportMetrics({ solvers, items }: EvalReport): Record<string, number> {
  return {
    tasks: items.length,
    solvers: solvers.length,
    ...Object.fromEntries(
      solvers.flatMap(({ name, accuracy, tokens }) => [
        [`${name}: accuracy`, accuracy.strict.value],
        [`${name}: tokens`, tokens.once.value],
      ]),
    ),
  }
}
