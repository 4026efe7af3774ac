import type { Trajectory, TrajectoryEvent } from '../../schema/index.ts'

/** Recorders number their events, so the shorter id is the earlier one: e9 before e10. */
export function byTimeThenId(left: TrajectoryEvent, right: TrajectoryEvent): number {
  if (left.t !== right.t) return left.t - right.t
  if (left.id.length !== right.id.length) return left.id.length - right.id.length
  return left.id < right.id ? -1 : left.id > right.id ? 1 : 0
}

export type EventOf<T extends TrajectoryEvent['type']> = Extract<TrajectoryEvent, { type: T }>

/** What caused what in a run, and inconsistencies found in it. */
export interface Links {
  /** In the order of time. */
  byId: ReadonlyMap<string, TrajectoryEvent>
  /** In the order of time. */
  children: (id: string) => readonly TrajectoryEvent[]
  /** What must precede an event: its cause, and messages that reached its agent in the meantime. */
  causes: (event: TrajectoryEvent) => readonly string[]
  problems: string[]
}

const none: readonly never[] = []

export function linksOf({ events }: Pick<Trajectory, 'events'>): Links {
  const byId = new Map<string, TrajectoryEvent>()
  const byParent = new Map<string, TrajectoryEvent[]>()
  const problems: string[] = []
  // Sorted by time, so that the order of the list does not matter.
  for (const event of [...events].sort(byTimeThenId)) {
    if (byId.has(event.id)) problems.push(`two events have the id ${event.id}; the first is used`)
    else byId.set(event.id, event)
  }
  for (const event of byId.values()) {
    if (event.parent === null) continue
    if (!byId.has(event.parent))
      problems.push(`${event.id} has the parent ${event.parent}, which does not exist`)
    const siblings = byParent.get(event.parent)
    if (siblings === undefined) byParent.set(event.parent, [event])
    else siblings.push(event)
  }
  const children = (id: string): readonly TrajectoryEvent[] => byParent.get(id) ?? none
  const received = undelivered(byId, children)
  const causes = (event: TrajectoryEvent): readonly string[] => {
    const parent = event.parent !== null && byId.has(event.parent) ? [event.parent] : none
    const messages = received.get(event.id)
    return messages === undefined ? parent : [...parent, ...messages]
  }
  return { byId, children, causes, problems }
}

/**
 * An event has one parent, but an agent may have waited for several messages. Messages that activated nobody are
 * delivered at their agent's next activation.
 */
function undelivered(
  byId: ReadonlyMap<string, TrajectoryEvent>,
  children: Links['children'],
): Map<string, string[]> {
  const inbox = new Map<string, string[]>()
  const received = new Map<string, string[]>()
  for (const event of byId.values()) {
    if (event.type === 'sent' && children(event.id).length === 0) {
      const messages = inbox.get(event.to)
      if (messages === undefined) inbox.set(event.to, [event.id])
      else messages.push(event.id)
    } else if (event.type === 'activated' && inbox.has(event.agent)) {
      received.set(event.id, inbox.get(event.agent)!)
      inbox.delete(event.agent)
    }
  }
  return received
}

export interface CausalOrder {
  events: TrajectoryEvent[]
  problems: string[]
}

/**
 * One order for a run whose branches may have worked in parallel: by time, but an event never precedes its causes,
 * and a turn's tool calls, their outputs and the remarks on them directly follow it. `last` (the step that answers)
 * waits for everything that does not depend on it, so that no observation is lost after the end.
 */
export function causalOrder(links: Links, last: string | undefined): CausalOrder {
  const waiting = new Map<string, TrajectoryEvent[]>()
  const placed = new Set<string>()
  const events: TrajectoryEvent[] = []
  let mayEnd = false

  const place = (first: TrajectoryEvent): void => {
    const queue = [first]
    for (let event = queue.shift(); event !== undefined; event = queue.shift()) {
      if (placed.has(event.id)) continue
      const missing = event.id === last && !mayEnd ? last : links.causes(event).find((id) => !placed.has(id))
      if (missing !== undefined) {
        const others = waiting.get(missing)
        if (others === undefined) waiting.set(missing, [event])
        else others.push(event)
        continue
      }
      placed.add(event.id)
      events.push(event)
      const follows = [...followers(links, event), ...(waiting.get(event.id) ?? [])]
      if (follows.length > 0) queue.unshift(...follows)
    }
  }

  for (const event of links.byId.values()) place(event)
  mayEnd = true
  const ending = last === undefined ? undefined : links.byId.get(last)
  if (ending !== undefined) place(ending)
  if (events.length === links.byId.size) return { events, problems: [] }
  // Only a contradictory recording gets here; the remaining events are ordered by time.
  const rest = [...links.byId.values()].filter((event) => !placed.has(event.id))
  return { events: [...events, ...rest], problems: [`the causes of ${rest[0]!.id} form a cycle`] }
}

/**
 * What directly follows an event: a turn's calls, what they returned, the report and the reflection on it. Rounds of
 * parallel branches alternate, but a round is never split.
 */
function followers(links: Links, { type, id }: TrajectoryEvent): TrajectoryEvent[] {
  const children = links.children(id)
  return children.length === 0 ? [] : children.filter((child) => belongsTo(type, child))
}

/** Prompts, messages and failures are not written to the stream, so placing them early does no harm. */
const unwritten = new Set<TrajectoryEvent['type']>(['activated', 'sent', 'failed'])

function belongsTo(above: TrajectoryEvent['type'], event: TrajectoryEvent): boolean {
  if (event.type === 'wrote') return event.said?.as === 'report' || event.said?.as === 'reflection'
  if (event.type === 'tool-called') return above === 'wrote'
  return event.type === 'tool-answered' || unwritten.has(event.type)
}
