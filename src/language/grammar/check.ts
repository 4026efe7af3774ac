import { z } from 'zod'
import { nearestName } from '../../base/errors/index.ts'
import type { AgentDefinition, GrammarDefinition } from './definition.ts'

/**
 * Everything that can be wrong with a definition that matches its schema: names that do not resolve, tags that collide,
 * unreachable agents, chains that can never end.
 */
export function findProblems(definition: GrammarDefinition): string[] {
  const problems = [...duplicates(definition), ...kinds(definition), ...references(definition)]
  // With broken references, the reachability check would only report the same problems again.
  return problems.length > 0 ? problems : [...schemas(definition), ...reachability(definition)]
}

function* duplicates({ agents }: GrammarDefinition): Generator<string> {
  const names = new Set<string>()
  const tags = new Map<string, string>()
  for (const { name, tag = name } of agents) {
    if (names.has(name)) yield `two agents are named "${name}"`
    names.add(name)
    // Tags are repaired regardless of case, so they must differ in more than case.
    const other = tags.get(tag.toLowerCase())
    if (other !== undefined && other !== name) yield `"${name}" and "${other}" share the tag <${tag}>`
    tags.set(tag.toLowerCase(), name)
  }
}

function* kinds({ agents }: GrammarDefinition): Generator<string> {
  const count = (kind: AgentDefinition['kind']): number =>
    agents.filter((agent) => agent.kind === kind).length
  if (count('answer') !== 1)
    yield `a grammar needs exactly one agent of kind "answer", this one has ${count('answer')}`
  if (count('observation') > 1) yield 'a grammar can have at most one agent of kind "observation"'
  if (count('tool') > 0 && count('observation') === 0) {
    yield 'a grammar with tools needs an agent of kind "observation" for their output'
  }
  for (const { name, kind, next, payload } of agents) {
    if (kind === 'answer' && next.length > 0) yield `"${name}" ends the chain, so its "next" must be empty`
    if (kind === 'observation' && next.length > 0) {
      yield `"${name}" follows a tool; list what may come after it in that tool's "next"`
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
      yield `${where} names "${name}", but observations follow tools automatically`
    } else if (prelude?.agent === name) {
      yield `${where} names "${name}", but the prelude is placed by prelude.before`
    }
  }
  for (const name of start) yield* check('start', name)
  for (const agent of agents) for (const name of agent.next) yield* check(`${agent.name}.next`, name)
  if (prelude === undefined) return
  for (const name of prelude.before) yield* check('prelude.before', name)
  const agent = byName.get(prelude.agent)
  if (agent === undefined) yield `prelude.agent names "${prelude.agent}", which is not an agent`
  else if (agent.kind !== 'role') yield `prelude.agent "${prelude.agent}" must be of kind "role"`
  else if (agent.next.length > 0)
    yield `"${prelude.agent}" is the prelude, so its "next" must be empty; use prelude.before`
}

function* schemas({ agents }: GrammarDefinition): Generator<string> {
  for (const { name, payload } of agents) {
    if (payload.syntax !== 'json' || payload.schema === undefined) continue
    try {
      z.fromJSONSchema(payload.schema as Parameters<typeof z.fromJSONSchema>[0])
    } catch (error) {
      yield `${name}.payload.schema is not a usable JSON Schema: ${(error as Error).message}`
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
    if (!reached.has(name)) yield `"${name}" is unreachable: neither start nor any reachable "next" names it`
    else if (!endable.has(name)) yield `"${name}" is a dead end: no path leads from it to "${answer.name}"`
  }
  if (prelude !== undefined && !prelude.before.some((name) => reached.has(name))) {
    yield `"${prelude.agent}" is unreachable: so are all agents in prelude.before`
  }
}

function closure(from: readonly string[], step: (name: string) => readonly string[]): Set<string> {
  const seen = new Set(from)
  for (const name of seen) for (const follower of step(name)) seen.add(follower)
  return seen
}
