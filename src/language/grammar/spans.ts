import type { Span, SpanKind } from '../../schema/index.ts'
import type { Block, Chain } from './chain.ts'
import type { AgentKind } from './definition.ts'

export function spanKind(kind: AgentKind): SpanKind {
  return kind === 'tool' ? 'call' : kind
}

/** The agent name for text outside all blocks, which only malformed streams have. */
export const STRAY = 'stray'

/**
 * Splits a parsed text into spans that cover it without gaps or overlaps. White space next to an observation belongs to the
 * observation, because the runtime wrote it; other white space belongs to the following block, or at the end to the last one.
 *
 * @example
 * import { loadGrammar, parseChain, spansOf } from 'chain-of-agents'
 *
 * const chain = parseChain(await loadGrammar('math'), '<think>17 + 4</think><answer>21</answer>')
 * for (const { agent, kind, text } of spansOf(chain)) console.log(agent, kind, text)
 */
export function spansOf(chain: Chain): Span[] {
  const { raw, blocks } = chain
  const spans: Span[] = []
  let covered = 0
  const cover = (end: number, agent: string, kind: SpanKind): void => {
    if (end === covered) return
    spans.push({ agent, kind, text: raw.slice(covered, end), origin: { events: [] } })
    covered = end
  }
  const extendLast = (end: number): void => {
    const last = spans.at(-1)
    if (last === undefined || end === covered) return
    last.text += raw.slice(covered, end)
    covered = end
  }
  for (const [index, block] of blocks.entries()) {
    const gap = raw.slice(covered, block.start)
    const blank = gap.trim() === ''
    if (isObservation(blocks[index - 1]))
      extendLast(blank ? block.start : block.start - gap.trimStart().length)
    if (!blank)
      cover(
        isObservation(block) ? covered + raw.slice(covered, block.start).trimEnd().length : block.start,
        STRAY,
        'role',
      )
    cover(block.end, block.agent, spanKind(block.kind))
  }
  const rest = raw.slice(covered)
  if (rest.trim() === '') extendLast(raw.length)
  else if (isObservation(blocks.at(-1))) extendLast(raw.length - rest.trimStart().length)
  cover(raw.length, STRAY, 'role')
  return spans
}

function isObservation(block: Block | undefined): boolean {
  return block?.kind === 'observation'
}
