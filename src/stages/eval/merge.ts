import { UsageError } from '../../base/errors/index.ts'
import type { EvalReport } from '../../schema/index.ts'
import { type ProjectSection, tableFromText } from '../../settings/index.ts'
import { openRun, type Run } from '../../store/index.ts'
import { makeReport, type ReportFiles, takeAttempts } from './make-report.ts'
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
