import type { Command } from 'commander'
import pc from 'picocolors'
import type { SelfCheckReport, SelfCheckResult } from '../../engine/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { interruptible } from '../interrupt.ts'
import { emit, mark, table } from '../output.ts'
import { showProgress } from '../progress.ts'
import { addEngineOptions, describeEngine, deviceOptions, type EngineOptions } from './engine-options.ts'

export function registerEngineContract(parent: Command): void {
  addEngineOptions(parent.command('contract'))
    .description('verify what training relies on: log-probabilities, gradients and checkpoints')
    .option('-m, --model <folder>', 'your own model, opened read-only (default: a small random one)')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa engine contract',
        '  $ coa engine contract --model models/mine --device wasm',
        '  $ coa engine contract --json',
      ].join('\n'),
    )
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<EngineOptions & { model?: string }>()
      const { checkEngine } = await import('../../engine/index.ts')
      const observe = showProgress()
      const report = await interruptible((signal) =>
        checkEngine({
          ...deviceOptions(options),
          ...(options.model === undefined ? {} : { model: options.model }),
          observe,
          signal,
        }),
      ).finally(observe.done)
      emit(options, report, () => describe(report))
      if (!report.ok) process.exitCode = exitCodes.findings.code
    })
}

function describe({ ok, engine, checks }: SelfCheckReport): string {
  const failed = checks.filter((check) => !check.ok).length
  return [
    describeEngine(engine),
    '',
    table([['', 'check', 'measured', 'limit', ''].map((head) => pc.dim(head)), ...checks.map(row)]),
    '',
    ok
      ? `${mark.good} the engine works correctly on this machine`
      : `${mark.bad} ${failed} of ${checks.length} checks failed: do not train on this device; try another --device`,
  ].join('\n')
}

function row({ name, ok, figure, limit, found }: SelfCheckResult): string[] {
  return [
    ok ? `${mark.good} ok` : `${mark.bad} failed`,
    name,
    figure === undefined ? pc.dim('–') : short(figure),
    limit === undefined ? pc.dim('–') : short(limit),
    pc.dim(found),
  ]
}

function short(value: number): string {
  return value === 0 ? '0' : value.toExponential(1)
}
