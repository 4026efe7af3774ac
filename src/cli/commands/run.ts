import type { Command } from 'commander'
import { registerRunDiagnose } from './run-diagnose.ts'
import { registerRunExport } from './run-export.ts'
import { registerRunImport } from './run-import.ts'
import { registerRunList } from './run-list.ts'
import { registerRunMetrics } from './run-metrics.ts'
import { registerRunReindex } from './run-reindex.ts'
import { registerRunReport } from './run-report.ts'
import { registerRunResume } from './run-resume.ts'
import { registerRunShow } from './run-show.ts'
import { registerRunVerify } from './run-verify.ts'

export function registerRun(program: Command): void {
  const run = program
    .command('run')
    .description('list, inspect, resume, verify and export runs')
    .addHelpText('after', '\nExamples:\n  $ coa run list\n  $ coa run show latest')
  registerRunList(run)
  registerRunShow(run)
  registerRunMetrics(run)
  registerRunDiagnose(run)
  registerRunReport(run)
  registerRunResume(run)
  registerRunVerify(run)
  registerRunReindex(run)
  registerRunExport(run)
  registerRunImport(run)
}
