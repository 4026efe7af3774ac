import { UsageError } from '../../base/errors/index.ts'
import type { EvalAttempt, EvalReport } from '../../schema/index.ts'
import { type ProjectSection, tableFromText } from '../../settings/index.ts'
import { openRun, type Run } from '../../store/index.ts'
import { attemptId } from './attempts.ts'
import { makeReport, type ReportFiles } from './make-report.ts'
import { type EvalSection, Prices } from './settings.ts'

/** Merges evaluations into a run: metrics are recomputed from all attempts, with the first report's settings. */
export function mergeEvaluations(
  config: { project: ProjectSection; eval: EvalSection },
  run: Run,
  /** Run folders. */
  parts: readonly string[],
): { report: EvalReport; files: ReportFiles } {
  const reports = parts.map((dir) => {
    using part = openRun(dir)
    const report = [...part.scan('eval')].at(-1)
    if (report === undefined) {
      throw new UsageError(`run ${part.id} has no evaluation report`, { fix: 'Finish its evaluation first.' })
    }
    takeAttempts(run, part.scan('attempt'))
    return report
  })
  const { settings, id } = reports[0]!
  const { seed, prices, picker, ...rest } = settings
  const same = {
    project: { ...config.project, seed },
    eval: {
      ...config.eval,
      ...rest,
      // Older versions stored prices as a list of texts.
      prices: Array.isArray(prices) ? Prices.parse(tableFromText(prices.join(','), Prices)) : prices,
      picker: picker as EvalSection['picker'],
    },
  }
  const solvers = [...new Set(reports.flatMap((report) => report.solvers.map(({ name }) => name)))]
  return makeReport(same, run, { solvers, id })
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
