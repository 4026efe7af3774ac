import { setImmediate } from 'node:timers/promises'
import { inBatches } from '../../base/concurrency/index.ts'
import { whole } from '../../base/text/index.ts'
import { builtinGrammars } from '../../language/grammar/index.ts'
import type { Stream } from '../../schema/index.ts'
import { isSkipped } from './examine.ts'
import type { FilterSettings, GivenSettings } from './settings.ts'

/** The paper's minimum, made for web research. */
const PAPERS_MINIMUM = 5
const BATCH = 1000

interface Counts {
  sequences: number
  reflecting: number
  calling: number
  checked: number
}

/**
 * The settings as they apply to the sequences of each grammar. What is sensible for a team that is asked to reflect, call tools and
 * answer questions with gold answers would drop everything of one that is not, such as most teams whose logs are imported.
 */
export class Defaults {
  readonly #given: GivenSettings
  readonly #counts: ReadonlyMap<string, Counts>
  readonly #known = new Map<string, FilterSettings>()

  constructor(given: GivenSettings, counts: ReadonlyMap<string, Counts>) {
    this.#given = given
    this.#counts = counts
  }

  settingsFor(grammar: string): FilterSettings {
    const known = this.#known.get(grammar)
    if (known !== undefined) return known
    const given = this.#given
    const counts = this.#counts.get(grammar)
    const settings = {
      ...given,
      min_interactions: given.min_interactions ?? minimumFor(grammar, counts),
      unchecked: given.unchecked ?? (isPapers(grammar) || (counts?.checked ?? 0) > 0 ? 'drop' : 'keep'),
      keep_unreflected: hardlyReflects(given, counts) ? 1 : given.keep_unreflected,
    }
    this.#known.set(grammar, settings)
    return settings
  }

  /** What was decided for the user, why, and how to decide otherwise. */
  notes(): string[] {
    return [...this.#counts].flatMap(([grammar, counts]) => this.#notesOn(grammar, counts))
  }

  #notesOn(grammar: string, { sequences, reflecting, calling, checked }: Counts): string[] {
    const { min_interactions, unchecked } = this.#given
    const settings = this.settingsFor(grammar)
    const notes: string[] = []
    if (min_interactions === undefined && !isPapers(grammar))
      notes.push(
        calling > 0
          ? 'one tool call is enough; filter.min_interactions sets another minimum'
          : 'no sequence calls a tool, so none has to; filter.min_interactions sets a minimum',
      )
    if (unchecked === undefined && settings.unchecked === 'keep' && checked === 0)
      notes.push(
        'nothing has checked any answer, so all are kept as they are; `coa check RUN` checks them, and filter.unchecked = "drop" drops what is unchecked',
      )
    if (hardlyReflects(this.#given, { sequences, reflecting }) && this.#given.keep_unreflected < 1)
      notes.push(
        `${reflecting === 0 ? 'no sequence reflects' : `only ${whole(reflecting)} of ${whole(sequences)} sequences reflect`}, so those without reflection are kept; filter.min_reflecting = 0 keeps only a share of them`,
      )
    return notes.map((note) => `grammar ${grammar}: ${note}`)
  }
}

/** The paper's numbers are for its own grammars; `open` and those of projects are for teams of any kind. */
const isPapers = (grammar: string): boolean => grammar !== 'open' && builtinGrammars.has(grammar)

/** Where other runs call tools, an answer without a call is a guess from memory. */
function minimumFor(grammar: string, counts: Pick<Counts, 'calling'> | undefined): number {
  if (isPapers(grammar)) return PAPERS_MINIMUM
  return (counts?.calling ?? 0) > 0 ? 1 : 0
}

/** Sampling raises the share of sequences that reflect; where there are next to none, it would only lose data. */
function hardlyReflects(
  { min_reflecting }: Pick<GivenSettings, 'min_reflecting'>,
  counts: Pick<Counts, 'sequences' | 'reflecting'> | undefined,
): boolean {
  return counts !== undefined && counts.reflecting < min_reflecting * counts.sequences
}

/** Counts what the defaults depend on, for each grammar. Reads all sequences, unless nothing depends on them. */
export async function defaultsFor(
  sequences: Iterable<Stream>,
  given: GivenSettings,
  signal: AbortSignal,
  onRead: (done: number) => void,
): Promise<Defaults> {
  const counts = new Map<string, Counts>()
  const isDecided = given.min_interactions !== undefined && given.unchecked !== undefined
  if (isDecided && (given.min_reflecting === 0 || given.keep_unreflected === 1))
    return new Defaults(given, counts)
  let done = 0
  for (const batch of inBatches(sequences, BATCH)) {
    for (const sequence of batch) if (!isSkipped(sequence, given)) count(counts, sequence, given)
    done += batch.length
    onRead(done)
    await setImmediate()
    signal.throwIfAborted()
  }
  return new Defaults(given, counts)
}

/** Apart from the tags around it. */
const isBlank = (text: string): boolean => text.replace(/<[^<>]*>/g, '').trim() === ''

function count(
  all: Map<string, Counts>,
  { grammar, spans, verdict }: Stream,
  { reflection_agents }: GivenSettings,
): void {
  const counts = all.get(grammar) ?? { sequences: 0, reflecting: 0, calling: 0, checked: 0 }
  all.set(grammar, counts)
  counts.sequences++
  if (spans.some(({ agent, text }) => reflection_agents.includes(agent) && !isBlank(text)))
    counts.reflecting++
  if (spans.some(({ kind }) => kind === 'call')) counts.calling++
  if (verdict !== undefined) counts.checked++
}
