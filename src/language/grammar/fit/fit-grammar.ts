import type { AgentDefinition, GrammarInput } from '../definition.ts'
import type { Grammar } from '../grammar.ts'
import { validate } from '../validate.ts'

/** A run as the agents that speak in it, in order. */
export interface AgentOrder {
  id: string
  agents: readonly string[]
}

/** Agents that follow each other, without the thoughts and observations between them; `from` is null at the start. */
export interface Transition {
  from: string | null
  to: string
  /** How often it occurs, and in how many runs. */
  times: number
  runs: number
}

export interface Fit {
  definition: GrammarInput
  /** Ids of the runs that fit. */
  fits: string[]
  lost: { id: string; reason: string }[]
  /** Those of the grammar. */
  transitions: Transition[]
  /** Those that are too rare; the runs that need them are lost. */
  dropped: Transition[]
}

export interface FitOptions {
  name: string
  description: string
  /** Transitions that occur in a smaller share of the runs are dropped. */
  minShare: number
}

/**
 * The smallest grammar that fits runs which follow a permissive grammar: its agents are those that occur, and only what
 * followed in a run may follow. Undefined if no run can fit.
 */
export function fitGrammar(
  runs: readonly AgentOrder[],
  permissive: Grammar,
  { name, description, minShare }: FitOptions,
): Fit | undefined {
  const lost: Fit['lost'] = []
  const complete: Walk[] = []
  for (const { id, agents } of runs) {
    const fault = validate(permissive, agents).violations[0]
    if (fault === undefined) complete.push(walk(id, agents, permissive))
    else lost.push({ id, reason: fault.message })
  }
  const least = minShare * complete.length
  const dropped = transitionsOf(complete).filter(({ runs }) => runs < least)
  const rare = new Set(dropped.map(keyOf))
  const kept = complete.filter(({ id, moves }) => {
    const move = moves.find((one) => rare.has(keyOf(one)))
    if (move !== undefined) lost.push({ id, reason: `${move.from ?? 'the start'} → ${move.to} is too rare` })
    return move === undefined
  })
  if (kept.length === 0) return undefined
  const transitions = transitionsOf(kept)
  const definition = definitionOf(kept, transitions, permissive, { name, description })
  return { definition, fits: kept.map(({ id }) => id), lost, transitions, dropped }
}

interface Move {
  from: string | null
  to: string
}

interface Walk {
  id: string
  moves: Move[]
  /** Agents that came after a thought, and those that came without one. */
  introduced: ReadonlySet<string>
  direct: ReadonlySet<string>
}

function walk(id: string, agents: readonly string[], { prelude, observation }: Grammar): Walk {
  const moves: Move[] = []
  const introduced = new Set<string>()
  const direct = new Set<string>()
  let from: string | null = null
  for (const [index, to] of agents.entries()) {
    if (to === observation?.name || to === prelude?.agent) continue
    const isIntroduced = prelude !== null && agents[index - 1] === prelude.agent
    ;(isIntroduced ? introduced : direct).add(to)
    moves.push({ from, to })
    from = to
  }
  return { id, moves, introduced, direct }
}

const keyOf = ({ from, to }: Move): string => `${from ?? ''}\0${to}`

function transitionsOf(walks: readonly Walk[]): Transition[] {
  const found = new Map<string, Transition>()
  for (const { moves } of walks) {
    const seen = new Set<string>()
    for (const move of moves) {
      const key = keyOf(move)
      const known = found.get(key) ?? { from: move.from, to: move.to, times: 0, runs: 0 }
      found.set(key, known)
      known.times++
      if (!seen.has(key)) known.runs++
      seen.add(key)
    }
  }
  return [...found.values()].sort((left, right) => right.times - left.times)
}

function definitionOf(
  walks: readonly Walk[],
  transitions: readonly Transition[],
  permissive: Grammar,
  head: Pick<GrammarInput, 'name' | 'description'>,
): GrammarInput {
  const after = (from: string | null): string[] =>
    transitions.flatMap((move) => (move.from === from ? move.to : []))
  const occurring = new Set(transitions.map(({ to }) => to))
  const introduced = new Set(walks.flatMap((one) => [...one.introduced]))
  const direct = new Set(walks.flatMap((one) => [...one.direct]))
  const hasTools = [...occurring].some((name) => permissive.agents.get(name)!.kind === 'tool')
  const think = permissive.prelude?.agent
  const isNeeded = ({ name, kind }: AgentDefinition): boolean =>
    occurring.has(name) || (kind === 'observation' && hasTools) || (name === think && introduced.size > 0)
  return {
    ...head,
    start: after(null),
    ...(think === undefined || introduced.size === 0
      ? {}
      : {
          prelude: {
            agent: think,
            before: [...introduced],
            required: ![...introduced].some((name) => direct.has(name)),
          },
        }),
    agents: permissive.definition.agents
      .filter(isNeeded)
      .map((agent) => ({ ...agent, next: occurring.has(agent.name) ? after(agent.name) : [] })),
  }
}
