import type { Command } from 'commander'
import pc from 'picocolors'
import { UsageError } from '../../base/errors/index.ts'
import type { ProjectConfig } from '../../pipeline/settings.ts'
import type { CheckResult, ExportSummary, FormatSummary } from '../../stages/export/index.ts'
import { openRun, type Run } from '../../store/index.ts'
import { exitCodes } from '../exit-codes.ts'
import type { GlobalOptions } from '../globals.ts'
import { interruptible } from '../interrupt.ts'
import { emit, mark, table } from '../output.ts'
import { showProgress } from '../progress.ts'
import { settingsForRun } from '../run-settings.ts'

interface ExportCommandOptions extends GlobalOptions {
  format?: string
  out?: string
  tokenizer?: string
  all?: boolean
  dryRun?: boolean
  check?: string | true
}

const formatNames =
  'llama-factory-sharegpt, llama-factory-alpaca, trl-messages, trl-tokens, verl-sft, verl-rl, axolotl, openai, tinker'

export function registerExport(program: Command): void {
  program
    .command('export')
    .argument('[run]', 'id or folder of a run, or "latest"')
    .description('write the sequences of a run, as its filter kept them, in the format of another trainer')
    .option('-f, --format <names>', `one or more, with commas: ${formatNames}`)
    .option('-o, --out <folder>', 'each format gets a folder of its name in it')
    .option(
      '-t, --tokenizer <folder>',
      'for ids and counts: folder with tokenizer.json, or "bytes"; token formats need one',
    )
    .option('--all', 'every sequence, even where the filter has made a choice')
    .option('--dry-run', 'count, and write nothing')
    .option('--check [folder]', 'read the files back: is exactly the same text trained on and masked?')
    .addHelpText(
      'after',
      '\nExamples:\n  $ coa export latest --format trl-tokens --tokenizer models/qwen --out data' +
        '\n  $ coa export latest --format llama-factory-sharegpt,axolotl --out data --check' +
        '\n  $ coa export --check data' +
        '\n  $ coa export latest --format verl-rl --out data --dry-run' +
        '\n\nToken formats carry ids and our mask; in the others the trainer derives the mask by its own rule, which' +
        '\n--check applies. The card (README.md) beside each file says how to train on it and what differs.',
    )
    .action(async (name: string | undefined, _options, command: Command) => {
      const options = command.optsWithGlobals<ExportCommandOptions>()
      const { dir, config } = settingsForRun(options, name, {
        flags: { 'language.tokenizer': options.tokenizer },
        kind: options.format === 'verl-rl' ? 'tasks' : 'sequences',
        uses: () => ['language'],
      })
      using run = dir === undefined ? undefined : openRun(dir)
      const exported =
        typeof options.check === 'string' && options.format === undefined
          ? undefined
          : await exportTo(run, options, config.language, namedTokenizer(options, config.language.tokenizer))
      const checked = await check(run, options, config.language)
      emit(options, { ...exported, ...(checked === undefined ? {} : { checks: checked }) }, () =>
        [...(exported === undefined ? [] : [describe(exported)]), ...(checked ?? []).map(describeCheck)].join(
          '\n\n',
        ),
      )
      if (checked?.some(({ verdict }) => verdict === 'broken')) process.exitCode = exitCodes.findings.code
    })
}

/** "bytes" in the settings is only the default: it counts as a tokenizer where the flag names it. */
function namedTokenizer({ tokenizer }: ExportCommandOptions, configured: string): string | undefined {
  return tokenizer ?? (configured === 'bytes' ? undefined : configured)
}

async function exportTo(
  run: Run | undefined,
  { format, out, all, dryRun }: ExportCommandOptions,
  language: ProjectConfig['language'],
  tokenizer: string | undefined,
): Promise<ExportSummary> {
  const example = 'Write `coa export latest --format trl-messages --out data`.'
  if (run === undefined) throw new UsageError('no run is named', { fix: example })
  if (format === undefined) throw new UsageError('no format is named', { fix: example })
  if (out === undefined && dryRun !== true) throw new UsageError('no folder is named', { fix: example })
  const { exportRun } = await import('../../stages/export/index.ts')
  const observe = showProgress()
  const formats = format.split(',').map((one) => one.trim())
  const summary = await interruptible((signal) =>
    exportRun(
      { formats, out: out ?? '.', tokenizer, all: all === true, dryRun: dryRun === true },
      { run, signal, observe, language },
    ),
  )
  observe.done()
  return summary
}

async function check(
  run: Run | undefined,
  { check: folder, out, dryRun }: ExportCommandOptions,
  language: ProjectConfig['language'],
): Promise<CheckResult[] | undefined> {
  if (folder === undefined || dryRun === true) return undefined
  const { checkExport } = await import('../../stages/export/index.ts')
  const observe = showProgress()
  const target = typeof folder === 'string' ? folder : out!
  const results = await interruptible((signal) =>
    checkExport(target, { signal, observe, language, ...(run === undefined ? {} : { run }) }),
  )
  observe.done()
  return results
}

function describe({ run, selection, formats }: ExportSummary): string {
  const chosen = selection === 'filter' ? 'what the filter kept' : 'every sequence'
  const rows = formats.map(({ format, status, counts, folder }) => [
    counts.rows === 0 ? mark.bad : mark.good,
    format,
    `${counts.rows} rows of ${counts.sequences}`,
    counts.tokens.trained === 0
      ? ''
      : `${counts.tokens.trained} tokens trained on, ${counts.tokens.masked} masked`,
    status === 'not written'
      ? pc.dim('not written')
      : `${folder}${status === 'written' ? '' : pc.dim(` (${status})`)}`,
  ])
  return [`run ${run}, ${chosen}`, table(rows), ...formats.flatMap(describeLeftOut)].join('\n')
}

function describeLeftOut({ format, leftOut }: FormatSummary): string[] {
  return Object.entries(leftOut).map(
    ([reason, { count, examples }]) =>
      `${mark.open} ${format}: ${count} left out, ${reason} (such as ${examples[0]})`,
  )
}

function describeCheck(result: CheckResult): string {
  const { format, verdict, rows, same, problems, problemCount, figures, differences } = result
  const sign = { same: mark.good, 'differs as stated': mark.open, broken: mark.bad }[verdict]
  return [
    `${sign} ${format}: ${verdict}; ${same} of ${rows} rows train and mask exactly what the sequences do`,
    ...problems.map((problem) => `  ${mark.bad} ${problem}`),
    ...(problemCount > problems.length ? [`  … ${problemCount - problems.length} more`] : []),
    ...Object.entries(figures).map(([figure, count]) => `  ${count} ${figure}`),
    ...differences.map((difference) => pc.dim(`  – ${difference}`)),
  ].join('\n')
}
