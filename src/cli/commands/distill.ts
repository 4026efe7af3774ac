import type { Command } from 'commander'
import pc from 'picocolors'
import { whole } from '../../base/text/index.ts'
import type { ProjectConfig } from '../../pipeline/settings.ts'
import type { DistillSummary } from '../../stages/distill/index.ts'
import { openRun } from '../../store/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { findingLines, named, toolLikeLines } from '../findings.ts'
import type { GlobalOptions } from '../globals.ts'
import { interruptible } from '../interrupt.ts'
import { emit, mark, table } from '../output.ts'
import { showProgress } from '../progress.ts'
import { repeatable } from '../repeatable.ts'
import { settingsForRun } from '../run-settings.ts'
import { registerDistillExplain } from './distill-explain.ts'

interface DistillOptions extends GlobalOptions {
  dryRun?: boolean
  again?: boolean
  react?: boolean
  map?: string[]
  strip?: string[]
  strict?: boolean
}

export function registerDistill(program: Command): void {
  const distill = program
    .command('distill')
    .argument('<run>', 'id or path of a run, or "latest"')
    .description(
      "merge a team's trajectories into single-agent sequences, and record the origin of every span",
    )
    .option('--dry-run', 'report what would be written, but write nothing')
    .option('--again', 'also redo trajectories that were distilled before')
    .option('--react', 'also write ReAct-style sequences (default: if sft.react_share is above 0)')
    .option('--map <name=agent>', 'what an agent, contribution or tool becomes; repeatable', repeatable)
    .option('--strip <regex>', 'cut matching text from what agents wrote; repeatable', repeatable)
    .option('--strict', 'do not write sequences with text that looks like tool output')
    .addHelpText(
      'after',
      '\nExamples:\n  $ coa distill latest --dry-run\n  $ coa distill latest --again --map critic=reflection --map report=drop' +
        "\n  $ coa distill latest --dry-run --strip 'Round [0-9]+ of [0-9]+:'" +
        '\n  $ coa distill explain latest math-1-careful',
    )
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<DistillOptions>()
      const { dir, config: configured } = settingsForRun(options, name, {
        flags: { 'distill.map': options.map },
        kind: 'distillable',
        uses: () => ['language', 'distill'],
      })
      const config = withStrip(configured, options.strip)
      const dryRun = options.dryRun === true
      const { distill, runStage } = await import('../../pipeline/index.ts')
      using run = openRun(dir, { write: !dryRun, command: 'coa distill' })
      const observe = showProgress()
      try {
        const summary = await interruptible((signal) =>
          runStage(
            distill,
            { run, config, signal, observe },
            {
              dryRun,
              again: options.again === true,
              strict: options.strict === true,
              ...(options.react === true ? { react: true } : {}),
            },
          ),
        )
        observe.done()
        emit(options, { run: run.id, dryRun, ...summary }, () =>
          describe(summary, dryRun, options.strip ?? []),
        )
        if ((summary.figures['refused'] ?? 0) > 0) process.exitCode = exitCodes.findings.code
      } finally {
        observe.done()
      }
    })
  registerDistillExplain(distill)
}

/** The patterns come before those of the settings, because whoever types them wants to see their effect. */
function withStrip(config: ProjectConfig, patterns: readonly string[] = []): ProjectConfig {
  const { distill } = config
  const voice = { ...distill.voice, cut: [...patterns, ...distill.voice.cut] }
  return { ...config, distill: { ...distill, voice } }
}

function describe(
  { figures, problems, voice, toolLike }: DistillSummary,
  dryRun: boolean,
  strip: readonly string[],
): string {
  const { sequences: made = 0, 'with problems': faulty = 0 } = figures
  // Whoever typed a pattern wants to know that it matched nothing.
  const unused = strip
    .map((pattern) => ({ rule: `cut: ${pattern}`, count: 0, examples: [] }))
    .filter(({ rule }) => !voice.some((known) => known.rule === rule))
  return [
    table(Object.entries(figures).map(([name, count]) => [name, whole(count)])),
    ...findingLines(
      ['trajectories', 'problem', 'example'],
      problems.map(({ example, ...problem }) => ({ ...problem, examples: [example] })),
      ({ problem }) => [problem],
      named,
    ),
    ...findingLines(['times', 'voice rule', 'examples'], [...unused, ...voice], ({ rule }) => [rule]),
    ...toolLikeLines(toolLike),
    '',
    `${faulty === 0 ? mark.good : mark.open} ${whole(made)} ${made === 1 ? 'sequence' : 'sequences'}, ${whole(faulty)} with problems`,
    ...(dryRun ? [pc.dim('dry run: nothing was written')] : []),
  ].join('\n')
}
