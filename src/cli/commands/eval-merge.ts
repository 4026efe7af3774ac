import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { digestOf } from '../../base/digests/index.ts'
import { UsageError } from '../../base/errors/index.ts'
import type { ProjectConfig } from '../../pipeline/settings.ts'
import { tableFromText } from '../../settings/index.ts'
import { makeReport, takeAttempts } from '../../stages/eval/index.ts'
import { Prices } from '../../stages/eval/settings.ts'
import { checkPathName, createRun, openRun } from '../../store/index.ts'
import { findRun } from '../find-run.ts'
import { version } from '../version.ts'
import type { EvalResult } from './eval-run.ts'

/** Merges several runs into one report: metrics are recomputed from all attempts, with the first report's settings. */
export function mergeRuns(
  config: ProjectConfig,
  names: readonly string[],
  into: string | undefined,
): EvalResult {
  const began = performance.now()
  const { runs } = config.project
  const id = checkPathName(into ?? `eval-${digestOf('merge', names).slice(0, 8)}`, 'a run')
  const head = { command: 'coa eval --merge', coa: version }
  using run = existsSync(join(runs, id, 'manifest.json'))
    ? openRun(join(runs, id), { write: true, command: head.command })
    : createRun(runs, { ...head, id })
  const reports = names.map((name) => {
    using part = openRun(findRun(runs, name))
    const report = [...part.scan('eval')].at(-1)
    if (report === undefined) {
      throw new UsageError(`run ${part.id} has no evaluation report`, { fix: 'Finish its evaluation first.' })
    }
    takeAttempts(run, part.scan('attempt'))
    return report
  })
  const { settings, id: name } = reports[0]!
  const { seed, prices, ...figures } = settings
  const same = {
    project: { ...config.project, seed },
    eval: {
      ...config.eval,
      ...figures,
      prices: Array.isArray(prices) ? Prices.parse(tableFromText(prices.join(','), Prices)) : prices,
      picker: figures.picker as ProjectConfig['eval']['picker'],
    },
  }
  const solvers = [...new Set(reports.flatMap((report) => report.solvers.map((solver) => solver.name)))]
  const made = makeReport(same, run, { solvers, id: name })
  return { run: run.id, dir: run.dir, ...made, seconds: (performance.now() - began) / 1000 }
}
