import { statSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { sha256 } from '../../base/digests/index.ts'
import { UsageError } from '../../base/errors/index.ts'
import type { Observe } from '../../base/progress/index.ts'
import { type Grammar, knownGrammars } from '../../language/grammar/index.ts'
import { tokenizerNamed } from '../../language/tokens/index.ts'
import type { Run } from '../../store/index.ts'
import type { TasksConfig } from '../../tasks/settings.ts'
import { languageOf } from '../../world/index.ts'
import { readEvalQuestions } from './contamination.ts'
import type { Criteria } from './decide.ts'
import { FilterChain } from './filter-chain.ts'
import type { Funnel } from './funnel.ts'
import { drawFunnel } from './funnel-page.ts'
import { readFunnel, SelectionWriter } from './selection-files.ts'
import { type FilterSection, filterSettings } from './settings.ts'

/** Increment when the filters decide differently on the same input. */
const VERSION = 1
/** Sequences between checks of the signal: some ten milliseconds. */
const YIELD_EVERY = 128

export interface FilterConfig extends TasksConfig {
  filter: FilterSection
}

export interface FilterContext {
  run: Run
  signal: AbortSignal
  observe: Observe
  /** Count only; nothing is written. */
  dryRun?: boolean
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
  const { run, signal, observe, dryRun = false } = context
  const { own, byName: grammars } = await knownGrammars(languageOf(config.language, run))
  const criteria: Criteria = {
    settings: filterSettings(config),
    evalQuestions: await readEvalQuestions(config, signal),
    tokenizer: await tokenizerNamed(config.language.tokenizer),
  }
  const fingerprint = fingerprintOf(run, config, criteria, own)
  const before = readFunnel(run)
  if (before?.fingerprint === fingerprint) return summaryOf(before, true)

  let funnel: Funnel
  const writer = dryRun ? undefined : new SelectionWriter(run.dir)
  try {
    const chain = new FilterChain(criteria, grammars, writer)
    const total = run.count('sequence')
    let done = 0
    for (const sequence of run.scan('sequence')) {
      chain.add(sequence)
      if (++done % YIELD_EVERY !== 0) continue
      observe({ stage: 'filter', done, total, unit: 'sequences' })
      await setImmediate()
      signal.throwIfAborted()
    }
    funnel = { ...chain.finish(), fingerprint, settings: config.filter }
    writer?.finish(funnel, drawFunnel(funnel, run.id))
  } catch (error) {
    writer?.discard()
    throw error
  }
  return summaryOf(funnel, false)
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
  const why = reasons
    .toSorted((one, other) => other.count - one.count)
    .slice(0, 3)
    .map(({ stage, reason, count }) => `${count} × ${stage}: ${reason}`)
  throw new UsageError(`none of the ${sequences} sequences was kept: ${why.join('; ')}`, {
    fix: 'Relax the settings in [filter], or record more team runs.',
  })
}

/** Covers everything that affects the result: records, settings, eval questions. */
function fingerprintOf(
  run: Run,
  { filter, language, project }: FilterConfig,
  { evalQuestions }: Criteria,
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
  ]
  return sha256(JSON.stringify(parts))
}

function summaryOf(funnel: Funnel, alreadyDone: boolean): FilterSummary {
  const { sequences, kept, copies } = funnel
  return { alreadyDone, funnel, figures: { sequences, kept, dropped: sequences - kept, copies } }
}
