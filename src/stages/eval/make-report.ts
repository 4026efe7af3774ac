import { UsageError } from '../../base/errors/index.ts'
import type { EvalAttempt, EvalReport } from '../../schema/index.ts'
import type { ProjectSection } from '../../settings/index.ts'
import type { Run } from '../../store/index.ts'
import { attemptId } from './attempt-record.ts'
import { reportOf } from './report.ts'
import { type ReportFiles, writeReport } from './report-files.ts'
import type { EvalSection } from './settings.ts'

/** The report's name where none is given. */
const ID = 'eval'

export interface MakeReportOptions {
  /** In the order in which they are shown; the others are compared with the first. */
  solvers: readonly string[]
  id?: string
  /** Only these tasks; left out, all that were tried. */
  tasks?: ReadonlySet<string>
  /** Only so many attempts at each task; left out, all. */
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

/** Takes the attempts of other runs, such as the parts of one evaluation, into a run. */
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
    // What was written lies in the other run.
    const { source: _, ...rest } = attempt
    if (known === undefined) run.append('attempt', { ...rest, id, solver })
  }
}
