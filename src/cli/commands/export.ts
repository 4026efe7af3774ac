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
    .argument('[run]', 'id or path of a run, or "latest"')
    .description("export a run's filtered sequences as a dataset for another trainer")
    .option('-f, --format <names>', `one or more, separated by commas: ${formatNames}`)
    .option('-o, --out <folder>', 'folder to write to, with a subfolder for each format')
    .option(
      '-t, --tokenizer <folder>',
      'folder with tokenizer.json, or "bytes", for token ids and counts; required by token formats',
    )
    .option('--all', 'export all sequences, including those dropped by the filter')
    .option('--dry-run', 'report what would be written, but write nothing')
    .option('--check [folder]', 'read the files back and check that the same text is trained on and masked')
    .addHelpText(
      'after',
      '\nExamples:\n  $ coa export latest --format trl-tokens --tokenizer models/qwen --out data' +
        '\n  $ coa export latest --format llama-factory-sharegpt,axolotl --out data --check' +
        '\n  $ coa export --check data' +
        '\n  $ coa export latest --format verl-rl --out data --dry-run' +
        '\n\nToken formats contain token ids and the loss mask. With the others, the trainer computes its own mask;' +
        '\n--check applies the same rule. The README.md next to each file explains how to train on it and what differs.',
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

/** "bytes" in the settings is only the default; it counts as a tokenizer only if the flag says so. */
function namedTokenizer({ tokenizer }: ExportCommandOptions, configured: string): string | undefined {
  return tokenizer ?? (configured === 'bytes' ? undefined : configured)
}

async function exportTo(
  run: Run | undefined,
  { format, out, all, dryRun }: ExportCommandOptions,
  language: ProjectConfig['language'],
  tokenizer: string | undefined,
): Promise<ExportSummary> {
  const fix = 'For example: `coa export latest --format trl-messages --out data`.'
  if (run === undefined) throw new UsageError('no run given', { fix })
  if (format === undefined) throw new UsageError('no format given (--format)', { fix })
  if (out === undefined && dryRun !== true) throw new UsageError('no output folder given (--out)', { fix })
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
  const chosen = selection === 'filter' ? 'filtered sequences' : 'all sequences'
  const rows = formats.map(({ format, status, counts, folder }) => [
    counts.rows === 0 ? mark.bad : mark.good,
    format,
    `${counts.rows} rows from ${counts.sequences} sequences`,
    counts.tokens.trained === 0
      ? ''
      : `${counts.tokens.trained} trained tokens, ${counts.tokens.masked} masked`,
    status === 'not written'
      ? pc.dim('not written')
      : `${folder}${status === 'written' ? '' : pc.dim(` (${status})`)}`,
  ])
  return [`run ${run}, ${chosen}`, table(rows), ...formats.flatMap(describeLeftOut)].join('\n')
}

function describeLeftOut({ format, leftOut }: FormatSummary): string[] {
  return Object.entries(leftOut).map(
    ([reason, { count, examples }]) =>
      `${mark.open} ${format}: ${count} left out: ${reason} (for example ${examples[0]})`,
  )
}

function describeCheck(result: CheckResult): string {
  const { format, verdict, rows, same, problems, problemCount, figures, differences } = result
  const sign = { same: mark.good, 'differs as stated': mark.open, broken: mark.bad }[verdict]
  return [
    `${sign} ${format}: ${verdict}; ${same} of ${rows} rows train on and mask exactly the same text as the sequences`,
    ...problems.map((problem) => `  ${mark.bad} ${problem}`),
    ...(problemCount > problems.length ? [`  … ${problemCount - problems.length} more`] : []),
    ...Object.entries(figures).map(([name, count]) => `  ${count} ${name}`),
    ...differences.map((difference) => pc.dim(`  – ${difference}`)),
  ].join('\n')
}
