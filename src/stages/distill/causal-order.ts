import type { TrajectoryEvent } from '../../schema/index.ts'
import type { Links } from './links.ts'

export interface CausalOrder {
  events: TrajectoryEvent[]
  problems: string[]
}

/**
 * One order for a run whose branches may have worked side by side: by time, but never before a cause, with the tool
 * calls of a turn, their outputs and what is said about them directly behind it. `last` (the step that answers) waits for everything that does
 * not come from it, so that no observation is lost behind the end.
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
  // Only a recording that contradicts itself gets here; what is left is told by time.
  const rest = [...links.byId.values()].filter((event) => !placed.has(event.id))
  return { events: [...events, ...rest], problems: [`the causes of ${rest[0]!.id} go in a circle`] }
}

/**
 * What is told directly behind an event: the calls of a turn, what they returned, the report on it and the look back at
 * it. Where two branches work side by side, their rounds alternate, but a round is not torn apart.
 */
function followers(links: Links, { type, id }: TrajectoryEvent): TrajectoryEvent[] {
  const children = links.children(id)
  return children.length === 0 ? [] : children.filter((child) => belongsTo(type, child))
}

/** Prompts, messages and failures are not told, so it does no harm to have them early. */
const untold = new Set<TrajectoryEvent['type']>(['activated', 'sent', 'failed'])

function belongsTo(above: TrajectoryEvent['type'], event: TrajectoryEvent): boolean {
  if (event.type === 'wrote') return event.said?.as === 'report' || event.said?.as === 'reflection'
  if (event.type === 'tool-called') return above === 'wrote'
  return event.type === 'tool-answered' || untold.has(event.type)
}
