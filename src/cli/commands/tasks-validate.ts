import type { Command } from 'commander'
import pc from 'picocolors'
import type { Task } from '../../schema/index.ts'
import type { ValidationReport } from '../../tasks/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { settings } from '../globals.ts'
import { interruptible } from '../interrupt.ts'
import { emit, mark, table } from '../output.ts'
import { showProgress } from '../progress.ts'
import { addSourceOptions, type SourceOptions, sourceArgument, sourceOf } from './tasks-options.ts'

export function registerTasksValidate(parent: Command): void {
  addSourceOptions(parent.command('validate').argument('<source...>', sourceArgument), '100')
    .description('check that the checker accepts every gold answer and rejects a wrong one')
    .addHelpText(
      'after',
      '\nExamples:\n  $ coa tasks validate math search code\n  $ coa tasks validate gsm8k --split test -n all',
    )
    .action(async (sources: string[], _options, command: Command) => {
      const options = command.optsWithGlobals<SourceOptions>()
      const { checkContext } = await import('../../stages/check/index.ts')
      const { openTasks, validateTasks } = await import('../../tasks/index.ts')
      const opened = await Promise.all(sources.map((from) => sourceOf(from, options)))
      let skipped = 0
      async function* all(signal: AbortSignal): AsyncGenerator<Task> {
        for (const source of opened) yield* openTasks({ ...source, signal, onProblem: () => skipped++ })
      }
      const { context, close } = await checkContext(settings(options).config, new Set(['code', 'judge']))
      const observe = showProgress()
      try {
        const report = await interruptible((signal) =>
          validateTasks(all(signal), { ...context, signal, observe }),
        )
        observe.done()
        emit(options, { ...report, skipped }, () => describe(report, skipped))
        if (report.failed > 0) process.exitCode = exitCodes.findings.code
      } finally {
        observe.done()
        await close()
      }
    })
}

function describe(report: ValidationReport, skipped: number): string {
  const rows = report.suites.map(({ suite, checker, tasks, right, wrong }) => [
    suite,
    checker,
    tasks.toLocaleString('en'),
    `${right.correct} accepted${right.wrong + right.undecided === 0 ? '' : pc.red(`, ${right.wrong} rejected, ${right.undecided} undecided`)}`,
    `${wrong.wrong} rejected${wrong.correct + wrong.undecided === 0 ? '' : pc.red(`, ${wrong.correct} accepted, ${wrong.undecided} undecided`)}`,
  ])
  return [
    table([
      ['suite', 'checker', 'tasks', 'gold answers', 'wrong answers'].map((head) => pc.dim(head)),
      ...rows,
    ]),
    ...Object.entries(report.notChecked).map(
      ([reason, count]) => `${mark.open} ${count} not checked: ${reason}`,
    ),
    ...(skipped === 0 ? [] : [`${mark.open} ${skipped} rows are not tasks`]),
    ...report.failures
      .slice(0, 20)
      .map(
        ({ id, answer, outcome, evidence }) =>
          `${mark.bad} ${id}: the ${answer} answer was judged ${outcome}: ${evidence}`,
      ),
    ...(report.failed > 20 ? [pc.dim(`… and ${report.failed - 20} more`)] : []),
    report.failed === 0
      ? `${mark.good} every answer was judged correctly`
      : `${mark.bad} ${report.failed} answers were misjudged`,
  ].join('\n')
}
