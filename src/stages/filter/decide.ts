import { fractionOf } from '../../base/random/index.ts'
import { encodeStream, type Tokenizer } from '../../language/tokens/index.ts'
import { streamText } from '../../schema/index.ts'
import { contaminated, type EvalQuestions } from './contamination.ts'
import { type Drop, type Examined, firstText } from './examine.ts'
import { tooLong } from './length.ts'
import { poorQuality } from './quality.ts'
import { readScore } from './read-score.ts'
import type { FilterSettings } from './settings.ts'

/**
 * In the order they are applied. Contamination comes before near-duplicates: otherwise a contaminated sequence could
 * first displace a clean one that is similar.
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

type Check = (examined: Examined, criteria: Criteria) => Drop | undefined

/** The stages that judge each sequence by itself. */
const checks: readonly (readonly [StageName, Check])[] = [
  ['complexity', (examined, { settings }) => tooSimple(examined, settings)],
  ['quality', (examined, { settings }) => poorQuality(examined, settings)],
  ['reflection', (examined, { settings }) => unreflected(examined, settings)],
  [
    'length',
    ({ sequence }, { settings, tokenizer }) => {
      const messages = sequence.prompt.map(({ content }) => content)
      const countTokens = (): number => encodeStream(tokenizer, sequence).ids.length
      return tooLong({ messages, stream: streamText(sequence) }, settings, countTokens)
    },
  ],
  [
    'contamination',
    ({ question }, { settings, evalQuestions }) => contaminated(question, evalQuestions, settings),
  ],
]

/** Applies every stage that looks at a single sequence; near-duplicates are resolved at the end. */
export function decide(examined: Examined, criteria: Criteria): Decision {
  for (const [stage, check] of checks) {
    const drop = check(examined, criteria)
    if (drop !== undefined) return { dropped: { stage, ...drop } }
  }
  return { weight: correctionWeight(examined, criteria.settings) }
}

/** First stage: a sequence with few tool calls teaches little about using tools. */
export function tooSimple(
  { suite, interactions }: Pick<Examined, 'suite' | 'interactions'>,
  settings: Pick<FilterSettings, 'min_interactions' | 'min_interactions_by_suite'>,
): Drop | undefined {
  const needed =
    new Map(Object.entries(settings.min_interactions_by_suite)).get(suite) ?? settings.min_interactions
  if (interactions >= needed) return undefined
  return { reason: `fewer than ${needed} tool calls`, detail: `${interactions}` }
}

/**
 * Third stage: reflection is rare and valuable, so sequences without it are downsampled, or dropped where it is
 * required. Grammars without a reflecting agent are exempt.
 */
export function unreflected(
  examined: Examined,
  settings: Pick<FilterSettings, 'reflection_agents' | 'reflection_required' | 'keep_unreflected' | 'seed'>,
): Drop | undefined {
  const { grammar, sequence, suite } = examined
  const agents = settings.reflection_agents.filter((name) => grammar?.agents.has(name))
  if (agents.length === 0 || firstText(examined, agents) !== undefined) return undefined
  const domain = [sequence.grammar, suite].find((name) => settings.reflection_required.includes(name))
  if (domain !== undefined) return { reason: 'no reflection where it is required', detail: domain }
  // Depends only on the seed and the id, so adding or reordering data changes nothing.
  const isSampled = fractionOf(settings.seed, sequence.id) < settings.keep_unreflected
  if (isSampled) return undefined
  return { reason: 'no reflection, not sampled', detail: `${settings.keep_unreflected} of these are kept` }
}

/**
 * Fourth stage: a sequence that doubted its first answer and ended with a correct one shows how to recover from a
 * mistake, so it gets a higher weight. Returns the weight.
 */
export function correctionWeight(
  examined: Examined,
  settings: Pick<FilterSettings, 'check_agents' | 'low_score' | 'correction_weight'>,
): number {
  if (examined.sequence.verdict?.outcome !== 'correct') return 1
  const words = firstText(examined, settings.check_agents)
  const score = words === undefined ? undefined : readScore(words)
  return score !== undefined && score <= settings.low_score ? settings.correction_weight : 1
}
