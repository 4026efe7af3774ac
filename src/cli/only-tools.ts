import { CoaError, nearestName, UsageError } from '../base/errors/index.ts'
import { defineGrammar, type Grammar } from '../language/grammar/index.ts'

/** A grammar that has only these of its tools: no other is offered to the model, or allowed where it is held to it. */
export function onlyTools(grammar: Grammar, wanted: readonly string[]): Grammar {
  const own = toolsOf(grammar)
  for (const name of wanted) {
    if (own.includes(name)) continue
    const nearest = nearestName(name, own)
    const fix =
      own.length === 0
        ? 'It has none: leave --tools out, or name another grammar.'
        : nearest === undefined
          ? `It has ${own.join(', ')}.`
          : `Did you mean "${nearest}"?`
    throw new UsageError(`the grammar "${grammar.name}" has no tool "${name}"`, { fix })
  }
  const dropped = own.filter((name) => !wanted.includes(name))
  if (dropped.length === 0) return grammar
  try {
    return without(grammar, dropped)
  } catch (error) {
    if (!CoaError.isInstance(error)) throw error
    throw new UsageError(`the grammar "${grammar.name}" cannot do without ${dropped.join(' and ')}`, {
      fix: 'Name more of its tools, or another grammar.',
      cause: error,
    })
  }
}

export function toolsOf(grammar: Grammar): string[] {
  return [...grammar.agents.values()].filter(({ kind }) => kind === 'tool').map(({ name }) => name)
}

function without(grammar: Grammar, tools: readonly string[]): Grammar {
  const { definition } = grammar
  const gone = new Set(tools)
  const stay = (names: readonly string[]): string[] => names.filter((name) => !gone.has(name))
  // Who could only be reached through a tool goes with it.
  const reached = new Set(stay(definition.start))
  for (const name of reached) for (const next of stay(grammar.agents.get(name)?.next ?? [])) reached.add(next)
  if (grammar.prelude !== null) reached.add(grammar.prelude.agent)
  const hasTools = [...reached].some((name) => grammar.agents.get(name)?.kind === 'tool')
  if (hasTools && grammar.observation !== null) reached.add(grammar.observation.name)
  for (const { name } of definition.agents) if (!reached.has(name)) gone.add(name)
  return defineGrammar({
    ...definition,
    start: stay(definition.start),
    ...(definition.prelude === undefined
      ? {}
      : { prelude: { ...definition.prelude, before: stay(definition.prelude.before) } }),
    agents: definition.agents
      .filter(({ name }) => !gone.has(name))
      .map((agent) => ({ ...agent, next: stay(agent.next) })),
  })
}
