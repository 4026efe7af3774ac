import { hash } from 'node:crypto'
import { statSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import type { ProjectConfig } from '../config/index.ts'
import type { Grammar } from '../grammar/index.ts'
import type { Observe } from '../observe/index.ts'
import type { Run } from '../store/index.ts'
import { tokenizerNamed } from '../tokens/index.ts'
import { filterSettings } from './config.ts'
import type { Criteria } from './decide.ts'
import { readEvalQuestions } from './eval-questions.ts'
import type { Funnel } from './funnel.ts'
import { drawFunnel } from './funnel-page.ts'
import { knownGrammars } from './known-grammars.ts'
import { readFunnel } from './read-selection.ts'
import { SelectionWriter } from './selection-files.ts'
import { Sieve } from './sieve.ts'

/** Raised when the filters decide otherwise than before on the same input. */
const VERSION = 1
/** Sequences between two looks at the signal: some ten milliseconds. */
const BREATH = 128

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
export async function run(config: ProjectConfig, context: FilterContext): Promise<FilterSummary> {
  const { run, signal, observe, dryRun = false } = context
  const { grammar, tokenizer } = config.language
  const grammars = await knownGrammars(grammar)
  const criteria: Criteria = {
    settings: filterSettings(config),
    evalQuestions: await readEvalQuestions(config, signal),
    tokenizer: await tokenizerNamed(tokenizer),
  }
  const fingerprint = fingerprintOf(run, config, criteria, grammars)
  const before = readFunnel(run)
  if (before?.fingerprint === fingerprint) return summaryOf(before, true)

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
    const funnel: Funnel = { ...sieve.finish(), fingerprint, settings: config.filter }
    writer?.finish(funnel, drawFunnel(funnel, run.id))
    return summaryOf(funnel, false)
  } catch (error) {
    writer?.discard()
    throw error
  }
}

/** Of all that decides: any record appended, any setting, any eval question changes it. */
function fingerprintOf(
  run: Run,
  { filter, language, project }: ProjectConfig,
  { evalQuestions }: Criteria,
  grammars: ReadonlyMap<string, Grammar>,
): string {
  const parts = [
    VERSION,
    statSync(run.files.events).size,
    filter,
    project.seed,
    language,
    grammars.get(language.grammar)!.definition,
    evalQuestions.digest(),
  ]
  return hash('sha256', JSON.stringify(parts), 'hex')
}

function summaryOf(funnel: Funnel, alreadyDone: boolean): FilterSummary {
  const { sequences, kept, copies } = funnel
  return { alreadyDone, funnel, figures: { sequences, kept, dropped: sequences - kept, copies } }
}
