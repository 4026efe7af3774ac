import type { Span, Stream, Trajectory, TrajectoryEvent } from '../../schema/index.ts'
import { causalOrder, linksOf } from './causal-order.ts'
import { TurnReader } from './turn.ts'

/** Events and the span they became; without a span, why there is none. */
export interface ExplainedRow {
  events: TrajectoryEvent[]
  span?: Span
  /** Index of the span in the sequence. */
  index?: number
  /** What was left out, or written as something else. */
  notes: string[]
}

export interface Explanation {
  rows: ExplainedRow[]
  problems: string[]
}

/** Shows a run and the sequence made from it side by side, in the order of the sequence. */
export function explain(trajectory: Trajectory, sequence: Stream): Explanation {
  const links = linksOf(trajectory)
  const { events } = causalOrder(links, new TurnReader(links).ending)
  const place = new Map(events.map((event, index) => [event.id, index]))
  const notes = notesOf(sequence)
  const used = new Set(sequence.spans.flatMap(eventsOf))
  let at = -1
  const rows: (ExplainedRow & { at: number })[] = sequence.spans.map((span, index) => {
    const sources = eventsOf(span).flatMap((id) => links.byId.get(id) ?? [])
    // Spans keep their order, whatever the order of the events.
    at = Math.max(at, ...sources.map(({ id }) => place.get(id)!))
    return { events: sources, span, index, notes: [], at }
  })
  // A note is shown at the last span its event went into.
  for (const [id, texts] of notes)
    rows.findLast(({ span }) => span !== undefined && eventsOf(span).includes(id))?.notes.push(...texts)
  for (const event of events) {
    if (used.has(event.id)) continue
    const reasons = notes.get(event.id) ?? [defaultReason(event)]
    rows.push({ events: [event], notes: reasons, at: place.get(event.id)! })
  }
  const spansLast = (row: ExplainedRow): number => row.index ?? -1
  rows.sort((left, right) => left.at - right.at || spansLast(left) - spansLast(right))
  const problems = sequence.meta['problems']
  return { rows: rows.map(({ at: _, ...row }) => row), problems: isTexts(problems) ? problems : [] }
}

function eventsOf({ origin }: Span): readonly string[] {
  return 'events' in origin ? origin.events : []
}

/** What the distiller noted about single events. */
function notesOf({ meta }: Stream): Map<string, string[]> {
  const notes = new Map<string, string[]>()
  const note = (value: unknown, describe: (fields: Record<string, unknown>) => string): void => {
    if (!Array.isArray(value)) return
    for (const fields of value as Record<string, unknown>[]) {
      const event = fields['event']
      // What an import left out belongs to no event.
      if (typeof event !== 'string') continue
      notes.set(event, [...(notes.get(event) ?? []), describe(fields)])
    }
  }
  note(meta['leftOut'], ({ part, reason }) =>
    part === 'all' ? String(reason) : `${part} left out: ${reason}`,
  )
  note(meta['folded'], ({ from, into }) => `${from} written as ${into}`)
  return notes
}

function defaultReason(event: TrajectoryEvent): string {
  switch (event.type) {
    case 'activated':
      return 'a prompt'
    case 'sent':
      return event.forwards === undefined
        ? 'a message; its text appears where it was written'
        : `only forwards ${event.forwards}`
    case 'failed':
      return 'a failure without effect'
    case 'tool-called':
      return 'a call that never returned'
    default:
      return 'not used'
  }
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}
