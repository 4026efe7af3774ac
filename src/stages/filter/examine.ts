import { type Chain, type Grammar, parseChain } from '../../language/grammar/index.ts'
import { isReact, type Stream, streamText } from '../../schema/index.ts'
import type { FilterSettings } from './settings.ts'

/** Why a sequence is dropped: a reason that can be counted, and the detail of this case. */
export interface Drop {
  reason: string
  detail: string
}

/** A sequence with properties that several filters need, each computed once. */
export interface Examined {
  sequence: Stream
  /** Undefined if the grammar is unknown. */
  grammar: Grammar | undefined
  suite: string
  question: string
  /** Number of tool calls. */
  interactions: number
  /** The stream, parsed strictly. Only for a known grammar. */
  chain: () => Chain
}

export function examine(sequence: Stream, grammar: Grammar | undefined): Examined {
  let interactions = 0
  for (const span of sequence.spans) if (span.kind === 'call') interactions++
  let chain: Chain | undefined
  return {
    sequence,
    grammar,
    suite: suiteOf(sequence),
    question: sequence.prompt.findLast(({ role }) => role === 'user')?.content ?? '',
    interactions,
    chain: () => {
      chain ??= parseChain(grammar!, streamText(sequence), { strict: true })
      return chain
    },
  }
}

/** A ReAct-style sequence follows the one it was made from. */
export function isSkipped(sequence: Stream, { skip_origins }: Pick<FilterSettings, 'skip_origins'>): boolean {
  return isReact(sequence) || skip_origins.includes(sequence.provenance?.origin ?? '')
}

/** Imported sequences may lack a suite; the grammar is the closest substitute. */
function suiteOf({ meta, grammar }: Stream): string {
  return typeof meta['suite'] === 'string' ? meta['suite'] : grammar
}

/** The first text by one of these agents that is not blank. */
export function firstText(examined: Examined, agents: readonly string[]): string | undefined {
  return examined.chain().blocks.find(({ agent, text }) => agents.includes(agent) && text.trim() !== '')?.text
}
