import type { Command } from 'commander'
import { openRun } from '../../store/index.ts'
import { findRun } from '../find-run.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { emit, mark } from '../output.ts'

interface ReportCommandOptions extends GlobalOptions {
  openPathOnly?: boolean
}

export function registerRunReport(parent: Command): void {
  parent
    .command('report')
    .argument('<run>', 'id or path of a run, or "latest"')
    .description('write the results of a run to report.html in its folder')
    .option('--open-path-only', 'print only the path, to pass it to another command')
    .addHelpText(
      'after',
      '\nExamples:\n  $ coa run report latest\n  $ xdg-open "$(coa run report latest --open-path-only)"',
    )
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ReportCommandOptions>()
      const { writeReport } = await import('../../pipeline/report/index.ts')
      using run = openRun(findRun(settings(options).config.project.runs, name))
      const path = writeReport(run)
      emit(options, { run: run.id, path }, () =>
        options.openPathOnly === true
          ? path
          : `${mark.good} ${path}\nThe page is self-contained: open it in a browser, or share it.`,
      )
    })
}
