import type { Command } from 'commander'
import { UsageError } from '../../base/errors/index.ts'
import { createFileAtomic } from '../../base/files/index.ts'
import { percent, whole } from '../../base/text/index.ts'
import { openRun } from '../../store/index.ts'
import { findingLines, named } from '../findings.ts'
import type { GlobalOptions } from '../globals.ts'
import { numberWithin } from '../numbers.ts'
import { emit, mark } from '../output.ts'
import { settingsForRun } from '../run-settings.ts'

interface FitOptions extends GlobalOptions {
  out?: string
  minShare?: number
}

const EXAMPLES = 3

export function registerGrammarFit(parent: Command): void {
  parent
    .command('fit')
    .argument('<run>', 'id or path of a run, or "latest"')
    .description("propose the smallest grammar that fits a run's trajectories, as TOML to read and edit")
    .option('-o, --out <file>', 'file to write (default: print it)')
    .option(
      '--min-share <share>',
      'drop transitions that occur in a smaller share of the runs, such as 0.02 (default: keep all)',
      numberWithin('--min-share', 0, 1),
    )
    .addHelpText(
      'after',
      '\nExamples:\n  $ coa grammar fit latest --out grammar.toml\n  $ coa grammar fit latest --min-share 0.02',
    )
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<FitOptions>()
      const { dir, config } = settingsForRun(options, name, {
        kind: 'trajectories',
        uses: () => ['language', 'distill'],
      })
      const { fitRun } = await import('../../stages/distill/index.ts')
      const { fittedToml } = await import('../../language/grammar/fit/index.ts')
      using run = openRun(dir)
      const fit = await fitRun(config, run, options.minShare ?? 0)
      const toml = fittedToml(fit, [
        `Fitted to run ${run.id} by \`coa grammar fit\`. Edit it, check it with \`coa grammar check\`, and use it with`,
        '[language] grammar = "this-file.toml" in coa.toml.',
      ])
      if (options.out !== undefined && !createFileAtomic(options.out, toml))
        throw new UsageError(`${options.out} already exists`, {
          fix: 'Choose another name, or delete it first.',
        })
      const share = fit.fits.length / (fit.fits.length + fit.lost.length)
      const agents = fit.definition.agents.map((agent) => agent.name)
      emit(options, { run: run.id, share, agents, ...fit, toml }, () =>
        options.out === undefined ? toml.trimEnd() : describe(options.out, run.id, share, fit),
      )
    })
}

function describe(
  out: string,
  run: string,
  share: number,
  { fits, lost }: { fits: readonly string[]; lost: readonly { id: string; reason: string }[] },
): string {
  const byReason = [...Map.groupBy(lost, ({ reason }) => reason)].map(([reason, runs]) => ({
    reason,
    count: runs.length,
    examples: runs.slice(0, EXAMPLES).map(({ id }) => id),
  }))
  return [
    `${mark.good} ${out}: ${whole(fits.length)} of ${whole(fits.length + lost.length)} runs fit (${percent(share)})`,
    ...findingLines(
      ['runs', 'why not', 'examples'],
      byReason.toSorted((one, other) => other.count - one.count),
      ({ reason }) => [reason],
      named,
    ),
    '',
    'Read and edit it, and check it with:',
    `  coa grammar check ${out}`,
    'To use it, set it in coa.toml, and distill again:',
    '  [language]',
    `  grammar = ${JSON.stringify(out)}`,
    `  coa distill ${run} --again`,
  ].join('\n')
}
