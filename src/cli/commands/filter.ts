import type { Command } from 'commander'
import pc from 'picocolors'
import { percent, whole } from '../../base/text/index.ts'
import type { FilterSummary, Funnel } from '../../stages/filter/index.ts'
import { openRun } from '../../store/index.ts'
import { sourceFromText } from '../../tasks/contamination/settings.ts'
import { bar, reasonTable, stageTable } from '../funnel-tables.ts'
import type { GlobalOptions } from '../globals.ts'
import { interruptible } from '../interrupt.ts'
import { emit, mark, table } from '../output.ts'
import { printNote, showProgress } from '../progress.ts'
import { repeatable } from '../repeatable.ts'
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

const repeatableList = (value: string, earlier: string[] = []): string[] => [...earlier, ...value.split(',')]

export function registerFilter(program: Command): void {
  program
    .command('filter')
    .argument('<run>', 'id or path of a run, or "latest"')
    .description('drop poor sequences before training, with a reason for each')
    .option('--dry-run', 'report what would be kept, but write nothing')
    .option('--min-interactions <count>', 'minimum number of tool calls (default: filter.min_interactions)')
    .option(
      '--by-suite <suite=count>',
      'another minimum for one suite; repeatable, or a list separated by commas',
      repeatableList,
    )
    .option('--max-same-call <count>', 'how often a tool may be called with the same input')
    .option('--exclude-saw-gold', 'drop sequences from a step that had seen the gold answer')
    .option('--keep-unreflected <share>', 'share of sequences without reflection to keep, from 0 to 1')
    .option('--correction-weight <count>', 'weight of a sequence that corrects a wrong first answer')
    .option('--max-tokens <count>', 'longest sequence, including the prompt; 0: no limit')
    .option('--no-near-duplicates', 'keep near-duplicates')
    .option(
      '--against <tasks>',
      'suite, benchmark or file whose questions must not be trained on; repeatable',
      repeatable,
    )
    .option('--queries', 'filter the tasks for RL instead, by the pass rate of the model')
    .option('--pass-rate <low,high>', 'with --queries: range of pass rates to keep (default: rl.pass_rate)')
    .option('--rollouts <count>', 'with --queries: rollouts per task (default: rl.pass_rate_rollouts)')
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
        uses: ({ filter }) => ['language', 'filter', ...(filter.judge ? (['judge', 'tools'] as const) : [])],
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
        runStage(filter, { run, config, signal, observe, onFinding: printNote }, { dryRun, onSummary }),
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
    // There is only a flag to turn it off; the flag's default must not override the setting.
    'filter.near_duplicates': options.nearDuplicates ? undefined : false,
    'filter.against': options.against?.map(sourceFromText),
  }
}

function describe({ funnel, alreadyDone }: FilterSummary, dryRun: boolean, folder: string): string {
  const { sequences, kept, copies, upSampled, passedOver, judge, unchecked = 0, notes = [] } = funnel
  const state = dryRun
    ? 'dry run: nothing was written'
    : alreadyDone
      ? `nothing has changed; ${folder} is up to date`
      : `written to ${folder}; open funnel.html there for a chart`
  return [
    stageTable(funnel.stages, sequences),
    '',
    callsTable(funnel),
    '',
    ...(funnel.reasons.length === 0 ? [] : [reasonTable(funnel.reasons, sequences), '']),
    `${kept > 0 ? mark.good : mark.open} ${whole(kept)} of ${whole(sequences)} sequences kept (${percent(kept / sequences)}), ` +
      `${whole(copies)} after upsampling ${whole(upSampled)} of them` +
      (passedOver === 0 ? '' : `; ${whole(passedOver)} skipped`),
    ...(judge === undefined ? [] : [describeJudge(judge)]),
    ...(unchecked === 0 || notes.some((note) => note.includes('nothing has checked'))
      ? []
      : [
          `${mark.open} nothing has checked the answers of ${whole(unchecked)} sequences; \`coa check RUN\` does`,
        ]),
    ...notes.map((note) => `${mark.open} ${note}`),
    pc.dim(state),
  ].join('\n')
}

function describeJudge({ scored, undecided, failure = '' }: NonNullable<Funnel['judge']>): string {
  const line = `${undecided === 0 ? mark.good : mark.open} the judge scored ${whole(scored)} sequences`
  return undecided === 0 ? line : `${line} and could not decide on ${whole(undecided)}: ${failure}`
}

/** Rows of the histogram; the last row includes everything above. */
const MOST_CALLS = 20

/** A histogram of tool calls per sequence, then calls by tool. */
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
      ['tool calls', 'sequences', 'kept', ''].map((head) => pc.dim(head)),
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
