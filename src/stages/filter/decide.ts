import type { Tokenizer } from '../../language/tokens/index.ts'
import { tooSimple } from './complexity.ts'
import type { FilterSettings } from './config.ts'
import { contaminated, type EvalQuestions } from './contamination.ts'
import { correctionWeight } from './correction.ts'
import type { Drop, Examined } from './examine.ts'
import { tooLong } from './length.ts'
import { poorQuality } from './quality.ts'
import { unreflected } from './reflection.ts'

/**
 * In the order they are gone through. Contamination comes before near-duplicates: otherwise a sequence that must go
 * could first push out a clean one that is like it.
 */
export const stageNames = [
  'complexity',
  'quality',
  'reflection',
  'correction',
  'length',
  'contamination',
  'near-duplicates',
] as const
export type StageName = (typeof stageNames)[number]

export interface Criteria {
  settings: FilterSettings
  tokenizer: Tokenizer
  evalQuestions: EvalQuestions
}

export type Decision = { dropped: Drop & { stage: StageName } } | { weight: number }

type Look = (examined: Examined, criteria: Criteria) => Drop | undefined

/** The stages that look at a sequence alone and may leave it out. */
const looks: readonly (readonly [StageName, Look])[] = [
  ['complexity', (examined, { settings }) => tooSimple(examined, settings)],
  ['quality', (examined, { settings }) => poorQuality(examined, settings)],
  ['reflection', (examined, { settings }) => unreflected(examined, settings)],
  ['length', ({ sequence }, { settings, tokenizer }) => tooLong(sequence, settings, tokenizer)],
  [
    'contamination',
    ({ question }, { settings, evalQuestions }) => contaminated(question, evalQuestions, settings),
  ],
]

/** Takes one sequence through every stage that needs no other; near-duplicates are settled at the end. */
export function decide(examined: Examined, criteria: Criteria): Decision {
  for (const [stage, look] of looks) {
    const drop = look(examined, criteria)
    if (drop !== undefined) return { dropped: { stage, ...drop } }
  }
  return { weight: correctionWeight(examined, criteria.settings) }
}
