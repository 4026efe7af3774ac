import { GrammarError } from '../../base/errors/index.ts'
import type { Span, SpanKind } from '../../schema/index.ts'
import type { Block, Chain, Step } from './chain.ts'
import type { AgentKind } from './definition.ts'
import { escapeBody } from './escape.ts'
import type { Grammar } from './grammar.ts'

function spanKind(kind: AgentKind): SpanKind {
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

/** One block in its tags. Any text is allowed: the block's own closing tag is escaped. */
export function renderStep(grammar: Grammar, { agent: name, text }: Step): string {
  const agent = grammar.agents.get(name)
  if (agent === undefined) {
    throw new GrammarError(`grammar "${grammar.name}" has no agent "${name}"`, {
      fix: `Use one of: ${[...grammar.agents.keys()].join(', ')}.`,
    })
  }
  return `<${agent.tag}>${escapeBody(agent.tag, text)}</${agent.tag}>`
}

/**
 * Renders steps as spans that concatenate to the stream, one block per line. The line breaks around an observation
 * belong to it, because the runtime writes them, not the model.
 */
export function renderSpans(grammar: Grammar, steps: readonly (Step & { source?: string[] })[]): Span[] {
  let afterObservation = true
  return steps.map((step) => {
    const block = renderStep(grammar, step)
    const kind = spanKind(grammar.agents.get(step.agent)!.kind)
    const before = afterObservation ? '' : '\n'
    afterObservation = kind === 'observation'
    const text = afterObservation ? `${before}${block}\n` : before + block
    return { agent: step.agent, kind, text, origin: { events: step.source ?? [] } }
  })
}

/**
 * Renders steps as text, one block per line, so that parsing gives the same steps back.
 *
 * @example
 * import { loadGrammar, render } from 'chain-of-agents'
 *
 * const steps = [{ agent: 'think', text: '17 + 4' }, { agent: 'answer', text: '21' }]
 * console.log(render(await loadGrammar('math'), steps))
 */
export function render(grammar: Grammar, steps: readonly Step[]): string {
  return renderSpans(grammar, steps)
    .map((span) => span.text)
    .join('')
}
