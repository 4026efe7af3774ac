import { fractionOf } from '../../base/random/index.ts'
import { encodeStream, type Tokenizer } from '../../language/tokens/index.ts'
import { type Mark, streamText } from '../../schema/index.ts'
import type { EvalQuestions } from '../../tasks/index.ts'
import { isEcho } from './echo.ts'
import { type Drop, type Examined, firstText } from './examine.ts'
import { tooLong } from './length.ts'
import { poorQuality } from './quality.ts'
import { readScore } from './read-score.ts'
import type { FilterSettings, GivenSettings } from './settings.ts'
import type { StageName } from './stage-names.ts'
import { speaksOfHelp, speaksToTeam } from './voice.ts'

export interface Criteria {
  /** What applies to all sequences, and to those of a grammar. */
  given: GivenSettings
  settingsFor: (grammar: string) => FilterSettings
  tokenizer: Tokenizer
  evalQuestions: EvalQuestions
  /** The names of the agents of a run that a sequence was distilled from; empty if that is not known. */
  teamOf: (trajectoryId: string | undefined) => readonly string[]
  /** What a person or a program thinks of a sequence, if that counts. */
  markOf: (id: string) => Mark | undefined
}

export type Decision =
  | { dropped: Drop & { stage: StageName } }
  /** The score is the judge's, if it was asked and could decide. */
  | { weight: number; score?: number }

type Check = (examined: Examined, criteria: Criteria & { settings: FilterSettings }) => Drop | undefined

/** The stages that judge each sequence by itself. */
const checks: readonly (readonly [StageName, Check])[] = [
  ['complexity', (examined, { settings }) => tooSimple(examined, settings)],
  ['quality', (examined, { settings }) => poorQuality(examined, settings)],
  [
    'voice',
    (examined, { settings, teamOf }) =>
      settings.voice
        ? (speaksToTeam(examined, teamOf(examined.sequence.provenance?.trajectoryId)) ??
          speaksOfHelp(examined))
        : undefined,
  ],
  ['reflection', (examined, { settings }) => unreflected(examined, settings)],
  [
    'length',
    ({ sequence }, { settings, tokenizer }) => {
      const messages = sequence.prompt.map(({ content }) => content)
      const countTokens = (): number => encodeStream(tokenizer, sequence).ids.length
      return tooLong({ messages, stream: streamText(sequence) }, settings, countTokens)
    },
  ],
  ['contamination', ({ question }, { evalQuestions }) => evalQuestions.contamination(question)],
]

/**
 * Applies every stage that looks at a single sequence and needs no model; the judge comes next, and stages that compare
 * sequences at the end.
 */
export function decide(examined: Examined, criteria: Criteria): Decision {
  const settings = criteria.settingsFor(examined.sequence.grammar)
  for (const [stage, check] of checks) {
    const drop = check(examined, { ...criteria, settings })
    if (drop !== undefined) return { dropped: { stage, ...drop } }
  }
  return { weight: correctionWeight(examined, settings) }
}

/** First stage: a sequence with few tool calls teaches little about using tools. */
export function tooSimple(
  { suite, interactions }: Pick<Examined, 'suite' | 'interactions'>,
  settings: Pick<FilterSettings, 'min_interactions' | 'min_interactions_by_suite'>,
): Drop | undefined {
  const needed =
    new Map(Object.entries(settings.min_interactions_by_suite)).get(suite) ?? settings.min_interactions
  if (interactions >= needed) return undefined
  const reason = needed === 1 ? 'no tool call' : `fewer than ${needed} tool calls`
  return { reason, detail: `${interactions}` }
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
  if (agents.length === 0 || reflects(examined, agents)) return undefined
  const domain = [sequence.grammar, suite].find((name) => settings.reflection_required.includes(name))
  if (domain !== undefined) {
    const echoes = firstText(examined, agents) === undefined ? '' : ': only repeats tool output'
    return { reason: 'no reflection where it is required', detail: `${domain}${echoes}` }
  }
  // Depends only on the seed and the id, so adding or reordering data changes nothing.
  const isSampled = fractionOf(settings.seed, sequence.id) < settings.keep_unreflected
  if (isSampled) return undefined
  return { reason: 'no reflection, not sampled', detail: `${settings.keep_unreflected} of these are kept` }
}

/** Whether one of these agents says something that is not just what the tool before it returned. */
function reflects(examined: Examined, agents: readonly string[]): boolean {
  let output = ''
  for (const { agent, kind, text } of examined.chain().blocks) {
    if (kind === 'observation') output = text
    else if (agents.includes(agent) && text.trim() !== '' && !isEcho(text, output)) return true
  }
  return false
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
