import { statSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { inBatches } from '../../base/concurrency/index.ts'
import { sha256 } from '../../base/digests/index.ts'
import { ModelError, UsageError } from '../../base/errors/index.ts'
import type { Observe } from '../../base/progress/index.ts'
import { type Grammar, knownGrammars } from '../../language/grammar/index.ts'
import { tokenizerNamed } from '../../language/tokens/index.ts'
import { agentNames } from '../../language/voice/index.ts'
import { latestMarks, type Mark } from '../../schema/index.ts'
import type { Run } from '../../store/index.ts'
import { type ContaminationConfig, readEvalQuestions } from '../../tasks/index.ts'
import { languageOf } from '../../world/index.ts'
import type { ModelSection, ToolsSection } from '../../world/settings.ts'
import type { Criteria } from './decide.ts'
import { defaultsFor } from './defaults.ts'
import { FilterChain } from './filter-chain.ts'
import type { Funnel } from './funnel.ts'
import { drawFunnel } from './funnel-page.ts'
import { type SequenceJudge, sequenceJudge } from './judge.ts'
import { readFunnel, SelectionWriter } from './selection-files.ts'
import { type FilterSection, filterSettings } from './settings.ts'

/** Increment when the filters decide differently on the same input. */
const VERSION = 6
/** Sequences decided on at a time: some ten milliseconds without a judge. */
const BATCH = 128

export interface FilterConfig extends ContaminationConfig {
  filter: FilterSection
  judge: ModelSection
  tools: ToolsSection
}

export interface FilterContext {
  run: Run
  signal: AbortSignal
  observe: Observe
  /** Count only; nothing is written. */
  dryRun?: boolean
  /** Called with what the user should know about. */
  onFinding?: ((text: string) => void) | undefined
}

export interface FilterSummary {
  /** True if the selection already exists for the same records and settings. */
  alreadyDone: boolean
  figures: Record<string, number>
  funnel: Funnel
}

/**
 * Filters the sequences of a run and writes to its folder `filter/` which are kept, with what weight, and why the
 * others are not.
 */
export async function run(config: FilterConfig, context: FilterContext): Promise<FilterSummary> {
  const { run, signal, observe, dryRun = false, onFinding } = context
  const { own, byName: grammars } = await knownGrammars(languageOf(config.language, run))
  const marks: ReadonlyMap<string, Mark> = config.filter.marks ? latestMarks(run.scan('mark')) : new Map()
  const shared: Omit<Criteria, 'settingsFor'> = {
    markOf: (id) => marks.get(id),
    given: filterSettings(config),
    evalQuestions: await readEvalQuestions(config, { run, signal, onNote: onFinding }),
    tokenizer: await tokenizerNamed(config.language.tokenizer),
    teamOf: (trajectoryId = '') => {
      const trajectory = run.get('trajectory', trajectoryId)
      return trajectory === undefined ? [] : agentNames(trajectory.events)
    },
  }
  const judge = sequenceJudge(config)
  const fingerprint = fingerprintOf(run, config, shared, own)
  const before = readFunnel(run)
  // What the judge could not decide is asked again.
  if (before?.fingerprint === fingerprint && (before.judge?.undecided ?? 0) === 0)
    return summaryOf(before, true)

  let funnel: Funnel
  const writer = dryRun ? undefined : new SelectionWriter(run.dir)
  try {
    const total = run.count('sequence')
    const progress = { total, unit: 'sequences' } as const
    const defaults = await defaultsFor(run.scan('sequence'), shared.given, signal, (done) =>
      observe({ stage: 'count', done, ...progress }),
    )
    const criteria = { ...shared, settingsFor: (grammar: string) => defaults.settingsFor(grammar) }
    const chain = new FilterChain(criteria, grammars, writer, judge)
    let done = 0
    for (const batch of inBatches(run.scan('sequence'), BATCH)) {
      await chain.add(batch, signal)
      done += batch.length
      observe({ stage: 'filter', done, ...progress })
      await setImmediate()
      signal.throwIfAborted()
    }
    assertJudged(judge)
    funnel = {
      ...chain.finish(),
      fingerprint,
      settings: Object.fromEntries(
        Object.entries(config.filter).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
      ),
      notes: defaults.notes(),
    }
    writer?.finish(funnel, drawFunnel(funnel, run.id))
  } catch (error) {
    writer?.discard()
    throw error
  }
  return summaryOf(funnel, false)
}

/** A judge that decided nothing would keep, or drop, everything. */
function assertJudged(judge: SequenceJudge | undefined): void {
  if (judge === undefined) return
  const { scored, undecided, failure = '' } = judge.counts
  if (scored > 0 || undecided === 0) return
  throw new ModelError(`the judge decided on none of the ${undecided} sequences: ${failure}`, {
    fix: 'Check the [judge] model, or set filter.judge = false.',
  })
}

/** Throws if nothing was kept. The result remains in the folder, and its page shows why. */
export function assertKept({ funnel }: FilterSummary, run: Run): void {
  const { sequences, kept, reasons } = funnel
  if (kept > 0) return
  if (sequences === 0) {
    throw new UsageError(`run ${run.id} has no sequences to filter`, {
      fix: `Make some with \`coa distill ${run.id}\`.`,
    })
  }
  const most = reasons.toSorted((one, other) => other.count - one.count)
  const why = most.slice(0, 3).map(({ stage, reason, count }) => `${count} × ${stage}: ${reason}`)
  throw new UsageError(`none of the ${sequences} sequences was kept: ${why.join('; ')}`, {
    fix: fixes(run.id)[most[0]!.reason] ?? 'Relax the settings in [filter], or record more team runs.',
  })
}

/** What to do if most sequences were dropped for a reason. */
const fixes = (runId: string): Readonly<Record<string, string>> => ({
  unchecked: `Check the answers with \`coa check ${runId}\`, or set filter.unchecked = "keep".`,
  'undecided answer': `Let a model decide with \`coa check ${runId} --judge\`, and distill again.`,
  'wrong answer': 'Record or import runs that ended well: nothing else is trained on.',
})

/** Covers everything that affects the result: records, settings, eval questions. */
function fingerprintOf(
  run: Run,
  { filter, language, project, judge }: FilterConfig,
  { evalQuestions }: Pick<Criteria, 'evalQuestions'>,
  own: Grammar,
): string {
  const parts = [
    VERSION,
    statSync(run.files.events).size,
    filter,
    project.seed,
    language,
    own.definition,
    evalQuestions.digest(),
    ...(filter.judge ? [judge.model, judge.base_url] : []),
  ]
  return sha256(JSON.stringify(parts))
}

function summaryOf(funnel: Funnel, alreadyDone: boolean): FilterSummary {
  const { sequences, kept, copies, judge, unchecked = 0 } = funnel
  const judged = judge === undefined ? {} : { judged: judge.scored, 'judge undecided': judge.undecided }
  return {
    alreadyDone,
    funnel,
    figures: {
      sequences,
      kept,
      dropped: sequences - kept,
      copies,
      ...(unchecked === 0 ? {} : { unchecked }),
      ...judged,
    },
  }
}
