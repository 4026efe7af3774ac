import type { Command } from 'commander'
import pc from 'picocolors'
import type { SelfCheckReport, SelfCheckResult } from '../../engine/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { interruptible } from '../interrupt.ts'
import { emit, mark, table } from '../output.ts'
import { showProgress } from '../progress.ts'
import { addEngineOptions, describeEngine, type EngineOptions, placeOf } from './engine-options.ts'

export function registerEngineContract(parent: Command): void {
  addEngineOptions(parent.command('contract'))
    .description('check on this machine what training relies on: log-probabilities, gradients, checkpoints')
    .option('-m, --model <folder>', 'a model of yours, which is only read (default: a small random one)')
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
          ...placeOf(options),
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
    table([['', 'check', 'measured', 'at most', ''].map((head) => pc.dim(head)), ...checks.map(row)]),
    '',
    ok
      ? `${mark.good} the engine keeps its contract here`
      : `${mark.bad} ${failed} of ${checks.length} checks failed: do not train with this; try another --device`,
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

function short(figure: number): string {
  return figure === 0 ? '0' : figure.toExponential(1)
}
