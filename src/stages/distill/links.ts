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
