import type { Mark, Stream } from '../../schema/index.ts'
import type { Drop } from './examine.ts'
import type { FilterSettings } from './settings.ts'

/** Why a mark drops a sequence, if it does. */
export function markedBad(mark: Mark | undefined): Drop | undefined {
  if (mark?.rating !== 'bad') return undefined
  const why = mark.note ?? mark.verdict?.evidence ?? ''
  return { reason: 'marked bad', detail: why === '' ? `by ${mark.by}` : `by ${mark.by}: ${why}` }
}

/**
 * A sequence marked good need not be long, checked, or free of what is only a matter of taste. What would make training on it
 * wrong still drops it: a wrong answer, a malformed chain, a leak, a length that does not fit.
 */
export function leniently(settings: FilterSettings): FilterSettings {
  return {
    ...settings,
    min_interactions: 0,
    min_interactions_by_suite: {},
    unchecked: 'keep',
    max_same_call: Number.POSITIVE_INFINITY,
    voice: false,
    reflection_required: [],
    keep_unreflected: 1,
  }
}

/** As it is to be judged: a verifier's verdict replaces an earlier one, and an undecided one says nothing. */
export function asMarked(sequence: Stream, { verdict: given }: Mark): Stream {
  const { verdict: before, ...rest } = sequence
  const verdict = given?.outcome === 'correct' ? given : before
  return verdict === undefined || verdict.outcome === 'undecided' ? rest : { ...rest, verdict }
}
