import type { Grammar } from '../../language/grammar/index.ts'
import type { Contribution } from '../../schema/index.ts'
import type { Turn } from './turn.ts'

/** A user's own rules: the name of an agent of the team, a contribution or a tool → a grammar agent, or "drop". */
export type DistillMap = ReadonlyMap<string, string>

export const DROP = 'drop'

/** Where the words of a turn go: into a block of the first of these agents that may speak, or into a later thought. */
export type Place = { kind: 'block'; agents: readonly string[] } | { kind: 'thought' } | { kind: 'drop' }

/** The blocks each contribution becomes, the fitting one first. The others wait for a block to join. */
const blocks: Partial<Record<Contribution, readonly string[]>> = {
  plan: ['plan'],
  reflection: ['reflection'],
  check: ['double_check', 'reflection'],
}

/** What an agent of the grammar may be made of, where it has to be made of what others left. */
const makings: Record<string, readonly Contribution[]> = {
  plan: ['facts'],
  reflection: ['reflection', 'check', 'suggestion', 'report'],
  suggested_answer: ['suggestion'],
  double_check: ['check'],
}

export function makingsOf(agent: string): readonly Contribution[] {
  return makings[agent] ?? []
}

/** The agent a suggested answer is written as. */
export const SUGGESTED = 'suggested_answer'

export function placeOf({ agent, as }: Pick<Turn, 'agent' | 'as'>, grammar: Grammar, map: DistillMap): Place {
  const mapped = map.get(agent) ?? (as === undefined ? undefined : map.get(as))
  if (mapped === DROP) return { kind: 'drop' }
  const agents = mapped === undefined ? (as === undefined ? undefined : blocks[as]) : [mapped]
  const known = agents?.filter(
    (name) => name !== grammar.prelude?.agent && grammar.agents.get(name)?.kind === 'role',
  )
  return known === undefined || known.length === 0 ? { kind: 'thought' } : { kind: 'block', agents: known }
}

/** The grammar's agent for a tool; undefined where there is none, "drop" where the user wants none. */
export function toolAgent(tool: string, grammar: Grammar, map: DistillMap): string | undefined {
  const name = map.get(tool) ?? tool
  return name === DROP || grammar.agents.get(name)?.kind === 'tool' ? name : undefined
}
