import { GrammarError } from '../../base/errors/index.ts'
import type { Span } from '../../schema/index.ts'
import type { Step } from './chain.ts'
import { escapeBody } from './escape.ts'
import type { Grammar } from './grammar.ts'
import { spanKind } from './spans.ts'

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
