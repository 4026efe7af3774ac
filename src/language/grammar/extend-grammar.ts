import { GrammarError } from '../../base/errors/index.ts'
import type { GrammarInput } from './definition.ts'
import { defineGrammar, type Grammar } from './grammar.ts'

/** What a grammar needs to know about a tool. */
export type ToolAgent = Pick<GrammarInput['agents'][number], 'name' | 'description' | 'payload'>

/**
 * Adds tool agents to a grammar. Each may be called wherever the grammar's own tools may (or, in a grammar without tools,
 * wherever the answer may be given) and may be followed by the same agents.
 *
 * @example
 * import { extendGrammar, loadGrammar } from 'chain-of-agents'
 *
 * const payload = { syntax: 'text' } as const
 * const weather = { name: 'weather', description: 'The weather in a city.', payload }
 * const grammar = extendGrammar(await loadGrammar('web'), [weather])
 */
export function extendGrammar(grammar: Grammar, tools: readonly ToolAgent[]): Grammar {
  const { definition } = grammar
  for (const { name } of tools) {
    const kind = grammar.agents.get(name)?.kind ?? 'tool'
    if (kind !== 'tool') {
      throw new GrammarError(
        `the tool "${name}" has the name of a ${kind} agent of grammar "${grammar.name}"`,
        {
          fix: 'Rename the tool.',
        },
      )
    }
  }
  const added = tools.filter((tool) => !grammar.agents.has(tool.name))
  if (added.length === 0) return grammar
  const names = added.map((tool) => tool.name)
  const template = definition.agents.find((agent) => agent.kind === 'tool')
  const beside = template?.name ?? grammar.answer.name
  const withTools = (list: readonly string[]): string[] =>
    list.includes(beside) ? [...list, ...names] : [...list]
  const observation = grammar.observation === null ? [observationAgent] : []
  return defineGrammar({
    ...definition,
    start: withTools(definition.start),
    ...(definition.prelude === undefined
      ? {}
      : { prelude: { ...definition.prelude, before: withTools(definition.prelude.before) } }),
    agents: [
      ...definition.agents.map((agent) => ({ ...agent, next: withTools(agent.next) })),
      ...added.map(({ name, description, payload }) => ({
        name,
        kind: 'tool' as const,
        description,
        payload,
        next: withTools(template?.next ?? besideAnswer(grammar)),
      })),
      ...observation,
    ],
  })
}

/** What may come wherever the answer may be given. */
function besideAnswer({ definition, answer }: Grammar): string[] {
  const places = [definition.start, ...definition.agents.map(({ next }) => next)]
  return [...new Set(places.filter((next) => next.includes(answer.name)).flat())]
}

const observationAgent = {
  name: 'observation',
  kind: 'observation' as const,
  description: 'What the tool returned. It is inserted for you; never write it yourself.',
}
