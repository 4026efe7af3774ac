import type { FilterSettings } from './config.ts'
import { type Examined, firstWords } from './examine.ts'
import { readScore } from './read-score.ts'

/**
 * Fourth stage: a sequence that doubted its first answer and ended right shows how to mend a mistake, so it counts
 * several times. Returns its weight.
 */
export function correctionWeight(
  examined: Examined,
  settings: Pick<FilterSettings, 'check_agents' | 'low_score' | 'correction_weight'>,
): number {
  if (examined.sequence.verdict?.outcome !== 'correct') return 1
  const words = firstWords(examined, settings.check_agents)
  const score = words === undefined ? undefined : readScore(words)
  return score !== undefined && score <= settings.low_score ? settings.correction_weight : 1
}
