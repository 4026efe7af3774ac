import { type Chain, type Grammar, parseChain } from '../../language/grammar/index.ts'
import { type Stream, streamText } from '../../schema/index.ts'

/** Why a sequence is left out: a reason that many share and can be counted by, and what it was here. */
export interface Drop {
  reason: string
  detail: string
}

/** A sequence with what several filters ask about it, each worked out once and only when asked for. */
export interface Examined {
  sequence: Stream
  /** Undefined where no grammar of that name is known. */
  grammar: Grammar | undefined
  suite: string
  question: string
  /** Tool calls: how often an agent and a tool had to do with each other. */
  interactions: number
  /** The stream, read strictly. Only for a sequence whose grammar is known. */
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

/** Imported sequences may not know their suite; then the grammar is the nearest thing. */
function suiteOf({ meta, grammar }: Stream): string {
  return typeof meta['suite'] === 'string' ? meta['suite'] : grammar
}

/** Whether one of these agents spoke, and said something. */
export function firstWords(examined: Examined, agents: readonly string[]): string | undefined {
  return examined.chain().blocks.find(({ agent, text }) => agents.includes(agent) && text.trim() !== '')?.text
}
