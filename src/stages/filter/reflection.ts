import { fractionOf } from '../../base/random/index.ts'
import type { FilterSettings } from './config.ts'
import { type Drop, type Examined, firstWords } from './examine.ts'

/**
 * Third stage: looking back at one's own work is rare and worth learning, so what lacks it is thinned out, or left out
 * where it is required. A grammar without an agent that reflects is not asked for it.
 */
export function unreflected(
  examined: Examined,
  settings: Pick<FilterSettings, 'reflection_agents' | 'reflection_required' | 'keep_unreflected' | 'seed'>,
): Drop | undefined {
  const { grammar, sequence, suite } = examined
  const agents = settings.reflection_agents.filter((name) => grammar?.agents.has(name))
  if (agents.length === 0 || firstWords(examined, agents) !== undefined) return undefined
  const domain = [sequence.grammar, suite].find((name) => settings.reflection_required.includes(name))
  if (domain !== undefined) return { reason: 'no reflection where it is required', detail: domain }
  // The draw hangs on the id alone: more data or another order do not change it.
  const drawn = fractionOf(settings.seed, sequence.id) < settings.keep_unreflected
  if (drawn) return undefined
  return { reason: 'no reflection, not drawn', detail: `a share of ${settings.keep_unreflected} is kept` }
}
