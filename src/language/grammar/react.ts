import { defineGrammar, type Grammar } from './grammar.ts'

const known = new WeakMap<Grammar, Grammar>()
const SUFFIX = '-react'
/** Longest name of a grammar. */
const LONGEST = 64

/** The same tools and answer for a single ReAct agent: think, call, observe, answer. All other roles are gone. */
export function reactGrammar(grammar: Grammar): Grammar {
  const react = known.get(grammar) ?? derive(grammar)
  known.set(grammar, react)
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
    name: `${name.slice(0, LONGEST - SUFFIX.length)}${SUFFIX}`,
    description: definition.description,
    start: actions,
    ...(thinks ? { prelude: { ...prelude, before } } : {}),
    agents: agents
      .filter(({ kind, name: agent }) => kind !== 'role' || (thinks && agent === prelude.agent))
      .map((agent) => ({ ...agent, next: agent.kind === 'tool' ? actions : [] })),
  })
}
