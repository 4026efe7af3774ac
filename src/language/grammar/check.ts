import { z } from 'zod'
import { nearestName } from '../../base/errors/index.ts'
import type { AgentDefinition, GrammarDefinition } from './definition.ts'

/**
 * Everything a well-typed definition can still get wrong, in words: names that do not resolve, tags that collide,
 * agents that can never speak, chains that can never end.
 */
export function findProblems(definition: GrammarDefinition): string[] {
  const problems = [...duplicates(definition), ...kinds(definition), ...references(definition)]
  // Reachability over a graph with broken references would only repeat the same news.
  return problems.length > 0 ? problems : [...schemas(definition), ...reachability(definition)]
}

function* duplicates({ agents }: GrammarDefinition): Generator<string> {
  const names = new Set<string>()
  const tags = new Map<string, string>()
  for (const { name, tag = name } of agents) {
    if (names.has(name)) yield `two agents are called "${name}"`
    names.add(name)
    // Tags that differ in case alone could not be told apart once a wrong-case tag is repaired.
    const other = tags.get(tag.toLowerCase())
    if (other !== undefined && other !== name) yield `"${name}" and "${other}" share the tag <${tag}>`
    tags.set(tag.toLowerCase(), name)
  }
}

function* kinds({ agents }: GrammarDefinition): Generator<string> {
  const count = (kind: AgentDefinition['kind']): number =>
    agents.filter((agent) => agent.kind === kind).length
  if (count('answer') !== 1)
    yield `a grammar needs exactly one agent of kind "answer", this has ${count('answer')}`
  if (count('observation') > 1) yield 'a grammar has at most one agent of kind "observation"'
  if (count('tool') > 0 && count('observation') === 0) {
    yield 'a grammar with tools needs an agent of kind "observation" for what they return'
  }
  for (const { name, kind, next, payload } of agents) {
    if (kind === 'answer' && next.length > 0) yield `"${name}" ends the chain, so its "next" must be empty`
    if (kind === 'observation' && next.length > 0) {
      yield `"${name}" is inserted after a tool; put what may follow into that tool's "next"`
    }
    if ((kind === 'role' || kind === 'observation') && payload.syntax !== 'text') {
      yield `"${name}" is of kind "${kind}", whose payload is always plain text`
    }
  }
}

function* references({ agents, start, prelude }: GrammarDefinition): Generator<string> {
  const byName = new Map(agents.map((agent) => [agent.name, agent]))
  const check = function* (where: string, name: string): Generator<string> {
    const target = byName.get(name)
    if (target === undefined) {
      const nearest = nearestName(name, byName.keys())
      yield `${where} names "${name}", which is not an agent${nearest === undefined ? '' : `; did you mean "${nearest}"?`}`
    } else if (target.kind === 'observation') {
      yield `${where} names "${name}", but observations follow tools by themselves`
    } else if (prelude?.agent === name) {
      yield `${where} names "${name}", but the prelude is placed by its own rule`
    }
  }
  for (const name of start) yield* check('start', name)
  for (const agent of agents) for (const name of agent.next) yield* check(`${agent.name}.next`, name)
  if (prelude === undefined) return
  for (const name of prelude.before) yield* check('prelude.before', name)
  const agent = byName.get(prelude.agent)
  if (agent === undefined) yield `prelude.agent names "${prelude.agent}", which is not an agent`
  else if (agent.kind !== 'role') yield `prelude.agent "${prelude.agent}" must be of kind "role"`
  else if (agent.next.length > 0) yield `"${prelude.agent}" is the prelude; what follows is in prelude.before`
}

function* schemas({ agents }: GrammarDefinition): Generator<string> {
  for (const { name, payload } of agents) {
    if (payload.syntax !== 'json' || payload.schema === undefined) continue
    try {
      z.fromJSONSchema(payload.schema as Parameters<typeof z.fromJSONSchema>[0])
    } catch (error) {
      yield `${name}.payload.schema is not a JSON Schema we can use: ${(error as Error).message}`
    }
  }
}

function* reachability({ agents, start, prelude }: GrammarDefinition): Generator<string> {
  const next = new Map(agents.map((agent) => [agent.name, agent.next]))
  const reached = closure(start, (name) => next.get(name) ?? [])
  const answer = agents.find((agent) => agent.kind === 'answer')!
  const backwards = (name: string): string[] =>
    agents.filter((agent) => agent.next.includes(name)).map((a) => a.name)
  const endable = closure([answer.name], backwards)
  for (const { name, kind } of agents) {
    if (kind === 'observation' || name === prelude?.agent) continue
    if (!reached.has(name)) yield `"${name}" can never speak: neither start nor any reachable "next" names it`
    else if (!endable.has(name)) yield `"${name}" is a dead end: no path leads from it to "${answer.name}"`
  }
  if (prelude !== undefined && !prelude.before.some((name) => reached.has(name))) {
    yield `"${prelude.agent}" can never speak: no agent in prelude.before can`
  }
}

function closure(from: readonly string[], step: (name: string) => readonly string[]): Set<string> {
  const seen = new Set(from)
  for (const name of seen) for (const follower of step(name)) seen.add(follower)
  return seen
}
