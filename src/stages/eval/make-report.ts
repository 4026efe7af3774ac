import { join } from 'node:path'
import { StoreError, UsageError } from '../../base/errors/index.ts'
import { writeFileAtomic } from '../../base/files/index.ts'
import type { EvalAttempt, EvalReport } from '../../schema/index.ts'
import type { ProjectSection } from '../../settings/index.ts'
import { checkPathName, type Run, withJsonChecksum, withTextChecksum } from '../../store/index.ts'
import { attemptId } from './attempts.ts'
import { describeReport } from './markdown.ts'
import { drawReport } from './page.ts'
import { reportOf } from './report.ts'
import type { EvalSection } from './settings.ts'

/** The default name of a report. */
const ID = 'eval'

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

/** Imports attempts from other runs, such as the parts of a sharded evaluation. */
export function takeAttempts(
  run: Run,
  attempts: Iterable<EvalAttempt>,
  rename: (solver: string) => string = (solver) => solver,
): void {
  for (const attempt of attempts) {
    const solver = rename(attempt.solver)
    const id = attemptId(solver, attempt.taskId, attempt.attempt)
    const known = run.get('attempt', id)
    if (known !== undefined && (known.how !== attempt.how || known.seed !== attempt.seed)) {
      throw new UsageError(`attempts of ${solver} were made with different settings`, {
        fix: 'Merge parts of one evaluation only.',
      })
    }
    // The full record is in the other run.
    const { source: _, ...rest } = attempt
    if (known === undefined) run.append('attempt', { ...rest, id, solver })
  }
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
  replace(files.json, withJsonChecksum(JSON.stringify(report, null, 2)))
  replace(files.markdown, withTextChecksum(describeReport(report), 'html'))
  replace(files.page, withTextChecksum(drawReport(report), 'html'))
  return files
}

function replace(path: string, text: string): void {
  try {
    writeFileAtomic(path, text)
  } catch (cause) {
    throw new StoreError(`cannot write the report ${path}: ${(cause as Error).message}`, {
      fix: 'Check the free space and the permissions of the run folder.',
      cause,
    })
  }
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
