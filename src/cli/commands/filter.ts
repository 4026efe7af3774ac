import type { Command } from 'commander'
import pc from 'picocolors'
import { percent, whole } from '../../base/text/index.ts'
import type { FilterSummary, Funnel } from '../../stages/filter/index.ts'
import { sourceFromText } from '../../stages/filter/settings.ts'
import { openRun } from '../../store/index.ts'
import { collect } from '../collect.ts'
import { bar, reasonTable, stageTable } from '../funnel-tables.ts'
import type { GlobalOptions } from '../globals.ts'
import { interruptible } from '../interrupt.ts'
import { emit, mark, table } from '../output.ts'
import { showProgress } from '../progress.ts'
import { settingsForRun } from '../run-settings.ts'
import { filterQueriesOf } from './filter-queries.ts'

interface FilterOptions extends GlobalOptions {
  dryRun?: boolean
  queries?: boolean
  passRate?: string
  rollouts?: string
  minInteractions?: string
  bySuite?: string[]
  maxSameCall?: string
  excludeSawGold?: boolean
  keepUnreflected?: string
  correctionWeight?: string
  maxTokens?: string
  nearDuplicates: boolean
  against?: string[]
}

const collectList = (value: string, earlier: string[] = []): string[] => [...earlier, ...value.split(',')]

export function registerFilter(program: Command): void {
  program
    .command('filter')
    .argument('<run>', 'id or folder of a run, or "latest"')
    .description('choose the sequences worth learning, with a reason for each that is left out')
    .option('--dry-run', 'count only; write nothing')
    .option('--min-interactions <count>', 'tool calls a sequence needs (default: filter.min_interactions)')
    .option(
      '--by-suite <suite=count>',
      'another number for one suite; may be given again, or several with commas',
      collectList,
    )
    .option('--max-same-call <count>', 'how often a tool may be called with the same input')
    .option('--exclude-saw-gold', 'leave out what came from a step that had seen the gold answer')
    .option('--keep-unreflected <share>', 'share kept of those without reflection, from 0 to 1')
    .option('--correction-weight <count>', 'how often a sequence counts that mended its first answer')
    .option('--max-tokens <count>', 'longest sequence, prompt included; 0 for no limit')
    .option('--no-near-duplicates', 'do not look for sequences that are nearly the same')
    .option('--against <tasks>', 'suite, benchmark or file whose questions must not be trained on', collect)
    .option('--queries', 'instead, measure the tasks that RL would practise on, and choose among those')
    .option('--pass-rate <low,high>', 'with --queries: share of tries to be solved (default: rl.pass_rate)')
    .option('--rollouts <count>', 'with --queries: tries at each task (default: rl.pass_rate_rollouts)')
    .addHelpText(
      'after',
      '\nExamples:\n  $ coa filter latest --dry-run\n  $ coa filter latest --by-suite math=3 --against gsm8k --against held-out.jsonl\n  $ coa filter latest --set filter.overlap_share=0.3 --json' +
        '\n  $ coa filter latest --queries --pass-rate 0.1,0.9 --rollouts 8',
    )
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<FilterOptions>()
      if (options.queries === true) return filterQueriesOf(name, options)
      const { dir, config } = settingsForRun(options, name, {
        flags: flagsOf(options),
        kind: 'sequences',
        uses: () => ['language', 'filter'],
      })
      const dryRun = options.dryRun === true
      const { filter, runStage } = await import('../../pipeline/index.ts')
      const { selectionFiles } = await import('../../stages/filter/index.ts')
      using run = openRun(dir, { write: !dryRun, command: 'coa filter' })
      const observe = showProgress()
      const onSummary = (summary: FilterSummary): void => {
        observe.done()
        const { folder } = selectionFiles(run.dir)
        emit(options, { run: run.id, dryRun, folder, ...summary }, () => describe(summary, dryRun, folder))
      }
      await interruptible((signal) =>
        runStage(filter, { run, config, signal, observe }, { dryRun, onSummary }),
      ).finally(observe.done)
    })
}

function flagsOf(options: FilterOptions): Record<string, unknown> {
  return {
    'filter.min_interactions': options.minInteractions,
    'filter.min_interactions_by_suite': options.bySuite,
    'filter.max_same_call': options.maxSameCall,
    'filter.exclude_saw_gold': options.excludeSawGold,
    'filter.keep_unreflected': options.keepUnreflected,
    'filter.correction_weight': options.correctionWeight,
    'filter.max_tokens': options.maxTokens,
    // Only its absence was asked for; that it is there by default must not undo a setting.
    'filter.near_duplicates': options.nearDuplicates ? undefined : false,
    'filter.against': options.against?.map(sourceFromText),
  }
}

function describe({ funnel, alreadyDone }: FilterSummary, dryRun: boolean, folder: string): string {
  const { sequences, kept, copies, upSampled, passedOver } = funnel
  const state = dryRun
    ? 'nothing was written'
    : alreadyDone
      ? `nothing has changed since ${folder} was written`
      : `written to ${folder}; funnel.html shows it`
  return [
    stageTable(funnel.stages, sequences),
    '',
    callsTable(funnel),
    '',
    ...(funnel.reasons.length === 0 ? [] : [reasonTable(funnel.reasons, sequences), '']),
    `${kept > 0 ? mark.good : mark.open} ${whole(kept)} of ${whole(sequences)} sequences kept (${percent(kept / sequences)}), ` +
      `${whole(copies)} with the ${whole(upSampled)} that count several times` +
      (passedOver === 0 ? '' : `; ${whole(passedOver)} not looked at`),
    pc.dim(state),
  ].join('\n')
}

/** Lines of the histogram; what lies beyond goes into the last. */
const MOST_CALLS = 20

/** Tool calls of a sequence, then the tools themselves. */
function callsTable({ interactions, tools }: Funnel): string {
  const rows = interactions.filter((row) => row.interactions < MOST_CALLS)
  const beyond = interactions.filter((row) => row.interactions >= MOST_CALLS)
  if (beyond.length > 0) {
    const sum = (name: 'all' | 'kept'): number => beyond.reduce((total, row) => total + row[name], 0)
    rows.push({ interactions: MOST_CALLS, all: sum('all'), kept: sum('kept') })
  }
  const most = Math.max(1, ...rows.map(({ all }) => all))
  return [
    table([
      ['calls', 'sequences', 'kept', ''].map((head) => pc.dim(head)),
      ...rows.map(({ interactions: calls, all, kept }) => [
        calls === MOST_CALLS ? `${calls}+` : String(calls),
        whole(all),
        whole(kept),
        bar(kept, most, all),
      ]),
    ]),
    pc.dim('calls kept: ') +
      (tools.map(({ tool, calls }) => `${tool} ${whole(calls.kept)} of ${whole(calls.all)}`).join(', ') ||
        'none'),
  ].join('\n')
}
