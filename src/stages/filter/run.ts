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
import { filterSettings } from './config.ts'
import type { Criteria } from './decide.ts'
import { readEvalQuestions } from './eval-questions.ts'
import type { Funnel } from './funnel.ts'
import { drawFunnel } from './funnel-page.ts'
import { readFunnel } from './read-funnel.ts'
import { SelectionWriter } from './selection-files.ts'
import type { FilterSection } from './settings.ts'
import { Sieve } from './sieve.ts'

/** Raised when the filters decide otherwise than before on the same input. */
const VERSION = 1
/** Sequences between two looks at the signal: some ten milliseconds. */
const BREATH = 128

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
  /** True when the selection was there already, of the same records and settings. */
  alreadyDone: boolean
  figures: Record<string, number>
  funnel: Funnel
}

/**
 * Goes through the sequences of a run and leaves in its folder `filter/` which are kept, how often each counts, and why
 * the others are not.
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
    const sieve = new Sieve(criteria, grammars, writer)
    const total = run.count('sequence')
    let done = 0
    for (const sequence of run.scan('sequence')) {
      sieve.take(sequence)
      if (++done % BREATH !== 0) continue
      observe({ stage: 'filter', done, total, unit: 'sequences' })
      await setImmediate()
      signal.throwIfAborted()
    }
    funnel = { ...sieve.finish(), fingerprint, settings: config.filter }
    writer?.finish(funnel, drawFunnel(funnel, run.id))
  } catch (error) {
    writer?.discard()
    throw error
  }
  return summaryOf(funnel, false)
}

/** Throws where nothing is left to learn from. What was found stays in the folder, and its page shows why. */
export function assertKept({ funnel }: FilterSummary, run: Run): void {
  const { sequences, kept, reasons } = funnel
  if (kept > 0) return
  if (sequences === 0) {
    throw new UsageError(`run ${run.id} has no sequences to choose from`, {
      fix: `Make some with \`coa distill ${run.id}\`.`,
    })
  }
  const why = reasons
    .toSorted((one, other) => other.count - one.count)
    .slice(0, 3)
    .map(({ stage, reason, count }) => `${count} × ${stage}: ${reason}`)
  throw new UsageError(`none of the ${sequences} sequences was kept: ${why.join('; ')}`, {
    fix: 'Change the settings of [filter], or record other runs.',
  })
}

/** Of all that decides: any record appended, any setting, any eval question changes it. */
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
