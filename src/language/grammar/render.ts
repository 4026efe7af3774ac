import { GrammarError } from '../../base/errors/index.ts'
import type { Span } from '../../schema/index.ts'
import type { Step } from './chain.ts'
import { escapeBody } from './escape.ts'
import type { Grammar } from './grammar.ts'
import { spanKind } from './spans.ts'

/** One block in its tags. Any text can be carried: the block's own closing tag in it is escaped. */
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
 * Steps as spans whose texts joined are the stream: one block a line. The line breaks around an observation belong
 * to it, because at run time it is the runtime that writes them, not the model.
 */
export function renderSpans(grammar: Grammar, steps: readonly (Step & { source?: string[] })[]): Span[] {
  let afterObservation = true
  return steps.map((step) => {
    const block = renderStep(grammar, step)
    const kind = spanKind(grammar.agents.get(step.agent)!.kind)
    const before = afterObservation ? '' : '\n'
    afterObservation = kind === 'observation'
    const text = afterObservation ? `${before}${block}\n` : before + block
    return { agent: step.agent, kind, text, source: step.source ?? [], trainable: !afterObservation }
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
