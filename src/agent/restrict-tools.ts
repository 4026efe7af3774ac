import { CoaError, nearestName, UsageError } from '../base/errors/index.ts'
import { defineGrammar, type Grammar } from '../language/grammar/index.ts'

/** A grammar with only some of its tools: the others are neither offered to the model nor allowed by constraints. */
export function restrictTools(grammar: Grammar, wanted: readonly string[]): Grammar {
  const own = toolNames(grammar)
  for (const name of wanted) {
    if (own.includes(name)) continue
    const nearest = nearestName(name, own)
    const fix =
      own.length === 0
        ? 'It has no tools: omit --tools, or choose another grammar.'
        : nearest === undefined
          ? `Its tools are ${own.join(', ')}.`
          : `Did you mean "${nearest}"?`
    throw new UsageError(`the grammar "${grammar.name}" has no tool "${name}"`, { fix })
  }
  const dropped = own.filter((name) => !wanted.includes(name))
  if (dropped.length === 0) return grammar
  try {
    return without(grammar, dropped)
  } catch (error) {
    if (!CoaError.isInstance(error)) throw error
    throw new UsageError(`the grammar "${grammar.name}" does not work without ${dropped.join(' and ')}`, {
      fix: 'Give more of its tools, or choose another grammar.',
      cause: error,
    })
  }
}

export function toolNames(grammar: Grammar): string[] {
  return [...grammar.agents.values()].filter(({ kind }) => kind === 'tool').map(({ name }) => name)
}

function without(grammar: Grammar, tools: readonly string[]): Grammar {
  const { definition } = grammar
  const removed = new Set(tools)
  const keep = (names: readonly string[]): string[] => names.filter((name) => !removed.has(name))
  // Agents that were reachable only through a removed tool are removed, too.
  const reached = new Set(keep(definition.start))
  for (const name of reached) for (const next of keep(grammar.agents.get(name)?.next ?? [])) reached.add(next)
  if (grammar.prelude !== null) reached.add(grammar.prelude.agent)
  const hasTools = [...reached].some((name) => grammar.agents.get(name)?.kind === 'tool')
  if (hasTools && grammar.observation !== null) reached.add(grammar.observation.name)
  for (const { name } of definition.agents) if (!reached.has(name)) removed.add(name)
  return defineGrammar({
    ...definition,
    start: keep(definition.start),
    ...(definition.prelude === undefined
      ? {}
      : { prelude: { ...definition.prelude, before: keep(definition.prelude.before) } }),
    agents: definition.agents
      .filter(({ name }) => !removed.has(name))
      .map((agent) => ({ ...agent, next: keep(agent.next) })),
  })
}
