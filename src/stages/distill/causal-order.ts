import type { TrajectoryEvent } from '../../schema/index.ts'
import type { Links } from './links.ts'

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
