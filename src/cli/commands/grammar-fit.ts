import type { Command } from 'commander'
import { UsageError } from '../../base/errors/index.ts'
import { createFileAtomic } from '../../base/files/index.ts'
import { percent, whole } from '../../base/text/index.ts'
import { openRun } from '../../store/index.ts'
import type { GlobalOptions } from '../globals.ts'
import { numberWithin } from '../numbers.ts'
import { emit, mark } from '../output.ts'
import { settingsForRun } from '../run-settings.ts'
import { sanitize } from '../sanitize.ts'

interface FitOptions extends GlobalOptions {
  out?: string
  minShare?: number
}

const SHOWN = 10

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
        options.out === undefined ? toml.trimEnd() : describe(options.out, share, fit),
      )
    })
}

function describe(
  out: string,
  share: number,
  { fits, lost }: { fits: readonly string[]; lost: readonly { id: string; reason: string }[] },
): string {
  const rest = lost.length - SHOWN
  return [
    `${mark.good} ${out}: ${whole(fits.length)} of ${whole(fits.length + lost.length)} runs fit (${percent(share)})`,
    ...lost.slice(0, SHOWN).map(({ id, reason }) => `  ${mark.open} ${sanitize(id)}: ${reason}`),
    ...(rest > 0 ? [`  and ${whole(rest)} more that do not fit`] : []),
    '',
    'To use it:',
    `  coa grammar check ${out}`,
    `  coa distill RUN --again --set language.grammar=${out}`,
  ].join('\n')
}
