import type { Command } from 'commander'
import { openRun } from '../../store/index.ts'
import { findRun } from '../find-run.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { emit, mark } from '../output.ts'
import { lastOfEachStep } from './run-metrics.ts'

export function registerRunDiagnose(parent: Command): void {
  parent
    .command('diagnose')
    .argument('<run>', 'id or path of a run, or "latest"')
    .description('find problems in an RL run, explain them, and suggest what to try')
    .addHelpText('after', '\nExamples:\n  $ coa run diagnose latest\n  $ coa run diagnose latest --json')
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const { diagnose, findingText } = await import('../../stages/rl/index.ts')
      using run = openRun(findRun(settings(options).config.project.runs, name, 'rl'))
      const rows = lastOfEachStep([...run.metrics()]).filter((row) => row['stage'] === 'rl')
      const findings = diagnose(rows)
      emit(options, { run: run.id, steps: rows.length, findings }, () => {
        if (rows.length === 0) return `run ${run.id} has no RL steps yet; start RL with \`coa rl ${run.id}\``
        if (findings.length === 0) return `${mark.good} ${rows.length} steps, no problems found`
        return findings.map((finding) => `${mark.open} ${findingText(finding)}`).join('\n\n')
      })
    })
}
