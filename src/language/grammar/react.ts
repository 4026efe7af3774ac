import { defineGrammar, type Grammar } from './grammar.ts'

const cache = new WeakMap<Grammar, Grammar>()
const SUFFIX = '-react'
const LONGEST_NAME = 64

/** A grammar with the same tools and answer for a single ReAct agent: think, call, observe, answer. */
export function reactGrammar(grammar: Grammar): Grammar {
  const react = cache.get(grammar) ?? derive(grammar)
  cache.set(grammar, react)
  return react
}

function derive({ definition }: Grammar): Grammar {
  const { name, agents, prelude } = definition
  const actions = agents.flatMap((agent) =>
    agent.kind === 'tool' || agent.kind === 'answer' ? agent.name : [],
  )
  const before = prelude?.before.filter((agent) => actions.includes(agent)) ?? []
  const thinks = prelude !== undefined && before.length > 0
  return defineGrammar({
    name: `${name.slice(0, LONGEST_NAME - SUFFIX.length)}${SUFFIX}`,
    description: definition.description,
    start: actions,
    ...(thinks ? { prelude: { ...prelude, before } } : {}),
    agents: agents
      .filter(({ kind, name: agent }) => kind !== 'role' || (thinks && agent === prelude.agent))
      .map((agent) => ({ ...agent, next: agent.kind === 'tool' ? actions : [] })),
  })
}
