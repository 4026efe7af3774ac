import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { digestOf } from '../../base/digests/index.ts'
import { nearestName, UsageError } from '../../base/errors/index.ts'
import { markdownTable, percent, whole } from '../../base/text/index.ts'
import type { VariantResult } from '../../pipeline/index.ts'
import { openRun, writeReportFile } from '../../store/index.ts'
import type { GlobalOptions } from '../globals.ts'
import { interruptible } from '../interrupt.ts'
import { newRun } from '../new-run.ts'
import { wholeNumber } from '../numbers.ts'
import { emit } from '../output.ts'
import { printNote, showProgress } from '../progress.ts'
import { settingsForRun } from '../run-settings.ts'
import { trainingSections, worldSections } from '../settings-sections.ts'

interface AblateOptions extends GlobalOptions {
  seeds: number
}

export function registerAblate(program: Command): void {
  program
    .command('ablate')
    .argument('<run>', 'id or path of a run of the whole pipeline, or "latest"')
    .argument('[name]', 'what to change; without it, the possibilities are listed')
    .description(
      'repeat a part of a run with one thing changed, and compare the results; resumes if interrupted',
    )
    .option('--seeds <count>', 'seeds per variant', wholeNumber('--seeds'), 1)
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa ablate latest',
        '  $ coa ablate latest masking --seeds 3',
        '  $ coa ablate latest group-size --set rl.steps=10 --set tasks.test_count=300',
        '  $ coa ablate latest tools                # trains nothing',
        '\nVariants start from the tasks, the team runs or the SFT checkpoint of the run, or only evaluate its last model; each has a run of its own.',
      ].join('\n'),
    )
    .action(async (name: string, what: string | undefined, _options, command: Command) => {
      const options = command.optsWithGlobals<AblateOptions>()
      const { ablate, ablations } = await import('../../pipeline/index.ts')
      if (what === undefined) {
        const rows = Object.entries(ablations).map(([each, { question, variants }]) => ({
          name: each,
          question,
          variants: variants.map((variant) => variant.name),
        }))
        return emit(options, rows, () =>
          rows.map((row) => `${row.name.padEnd(12)} ${row.question} ${row.variants.join(', ')}`).join('\n'),
        )
      }
      const ablation = ablations[what]
      if (ablation === undefined) throw unknown(what, Object.keys(ablations))
      const { dir, config } = settingsForRun(options, name, {
        kind: 'trajectories',
        uses: (given) => [
          ...worldSections,
          ...trainingSections('rl', given),
          'sft',
          'filter',
          'eval',
          'tasks',
        ],
      })
      using original = openRun(dir)
      const observe = showProgress()
      const results = await interruptible((signal) =>
        ablate(ablation, {
          original,
          config,
          signal,
          observe,
          onRuntime: printNote,
          seeds: Array.from({ length: options.seeds }, (_, index) => config.project.seed + index),
          openRun: (variant, seed, changed) => {
            // Other settings give another run, so that what is resumed is what was asked for.
            const id = `${original.id}-${what}-${digestOf(variant.name, changed).slice(0, 8)}`
            const place = join(changed.project.runs, id)
            return existsSync(place)
              ? openRun(place, { write: true, command: 'coa ablate' })
              : newRun(changed, `coa ablate ${what}: ${variant.name}, seed ${seed}`, id)
          },
          onVariant: (variant, seed) => printNote(`${what}: ${variant.name}, seed ${seed}`),
        }),
      ).finally(observe.done)
      const { question } = ablation
      const file = join(config.project.runs, `${original.id}-${what}.md`)
      writeReportFile(file, `# ${question}\n\n${tableOf(results)}\n`)
      emit(options, { run: original.id, ablation: what, question, variants: results, file }, () =>
        [question, '', tableOf(results), '', file].join('\n'),
      )
    })
}

function unknown(name: string, known: readonly string[]): UsageError {
  const nearest = nearestName(name, new Set(known))
  return new UsageError(`there is no ablation "${name}"`, {
    fix: nearest === undefined ? `Use one of ${known.join(', ')}.` : `Did you mean "${nearest}"?`,
  })
}

function tableOf(results: readonly VariantResult[]): string {
  return markdownTable(
    ['variant', 'accuracy', '95% interval', 'p', 'tokens per solved task', 'by seed'],
    results.map(({ name, accuracy, p, tokensPerSolved, runs }) => [
      name,
      percent(accuracy.value, 1),
      `${percent(accuracy.low, 1)}–${percent(accuracy.high, 1)}`,
      p === null ? '' : p.toFixed(3),
      tokensPerSolved === null ? '–' : whole(tokensPerSolved),
      runs.map((each) => percent(each.accuracy, 1)).join(', '),
    ]),
  )
}
