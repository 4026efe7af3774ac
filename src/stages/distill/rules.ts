import type { Grammar } from '../../language/grammar/index.ts'
import type { Contribution } from '../../schema/index.ts'
import type { Turn } from './turn.ts'

/** The user's rules: a team agent's name, a contribution or a tool → a grammar agent, or "drop". */
export type DistillMap = ReadonlyMap<string, string>

export const DROP = 'drop'

/**
 * Where the text of a turn goes: into a block of the first of these agents that may speak, or into a later thought.
 */
export type Placement = { kind: 'block'; agents: readonly string[] } | { kind: 'thought' } | { kind: 'drop' }

/** The blocks a contribution becomes, best match first. Other contributions wait for a block to join. */
const blocks: Partial<Record<Contribution, readonly string[]>> = {
  plan: ['plan'],
  reflection: ['reflection'],
  check: ['double_check', 'reflection'],
}

/** The pending contributions that may join an agent's block. */
const contributions: Record<string, readonly Contribution[]> = {
  plan: ['facts'],
  reflection: ['reflection', 'check', 'suggestion', 'report'],
  suggested_answer: ['suggestion'],
  double_check: ['check'],
}

export function contributionsFor(agent: string): readonly Contribution[] {
  return contributions[agent] ?? []
}

/**
 * The pending contributions that an agent's block can be built from, if it has none of its own. A report or a
 * suggestion may join a reflection, but does not become one, because nobody reflected; only if distill.map dropped the
 * agent who did, it takes that place.
 */
export function sourcesFor(agent: string, droppedReflection: boolean): readonly Contribution[] {
  return agent === 'reflection' && !droppedReflection ? ['reflection', 'check'] : contributionsFor(agent)
}

/** The grammar agent for suggested answers. */
export const SUGGESTED = 'suggested_answer'

export function placementOf(
  { agent, as }: Pick<Turn, 'agent' | 'as'>,
  grammar: Grammar,
  map: DistillMap,
): Placement {
  const mapped = map.get(agent) ?? (as === undefined ? undefined : map.get(as))
  if (mapped === DROP) return { kind: 'drop' }
  const agents = mapped === undefined ? (as === undefined ? undefined : blocks[as]) : [mapped]
  const known = agents?.filter(
    (name) => name !== grammar.prelude?.agent && grammar.agents.get(name)?.kind === 'role',
  )
  return known === undefined || known.length === 0 ? { kind: 'thought' } : { kind: 'block', agents: known }
}

/** The grammar's agent for a tool; undefined if there is none, "drop" if the user excluded it. */
export function toolAgent(tool: string, grammar: Grammar, map: DistillMap): string | undefined {
  const name = map.get(tool) ?? tool
  return name === DROP || grammar.agents.get(name)?.kind === 'tool' ? name : undefined
}
