import type { FilterSettings } from './config.ts'
import type { Drop, Examined } from './examine.ts'

/** First stage: what takes few tool calls teaches little about working with tools. */
export function tooSimple(
  { suite, interactions }: Pick<Examined, 'suite' | 'interactions'>,
  settings: Pick<FilterSettings, 'min_interactions' | 'min_interactions_by_suite'>,
): Drop | undefined {
  const needed =
    new Map(Object.entries(settings.min_interactions_by_suite)).get(suite) ?? settings.min_interactions
  if (interactions >= needed) return undefined
  return { reason: `fewer than ${needed} tool calls`, detail: `${interactions}` }
}
