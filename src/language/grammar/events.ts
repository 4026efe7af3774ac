import type { Diagnostic } from './diagnostic.ts'
import type { Payload } from './payload/types.ts'

/** A tool call or an answer whose payload was understood. */
export interface Utterance {
  agent: string
  payload: Payload
  /** Range of the whole block, tags included. */
  start: number
  end: number
  /** True when the block or its payload had to be mended. Never true in strict mode. */
  repaired: boolean
}

/**
 * What the parser reports, in the order of the text. Offsets are UTF-16 positions in the raw text. A text event
 * carries what is new since the last one, so how much each holds depends on the chunks that were fed; neighbours
 * joined (`joinText`), the events do not.
 */
export type ParseEvent =
  | { type: 'agent-opened'; agent: string; start: number; end: number; repaired: boolean }
  /** Agent null: between blocks. */
  | { type: 'text'; agent: string | null; start: number; end: number; text: string }
  /** Start = end where the closing tag is missing and was supplied. */
  | { type: 'agent-closed'; agent: string; start: number; end: number; repaired: boolean }
  | { type: 'call-ready'; call: Utterance }
  | { type: 'answer-ready'; answer: Utterance }
  | { type: 'diagnostic'; diagnostic: Diagnostic }

/** Joins neighbouring text events of one agent. */
export function joinText(events: Iterable<ParseEvent>): ParseEvent[] {
  const joined: ParseEvent[] = []
  for (const event of events) {
    const last = joined.at(-1)
    if (
      event.type === 'text' &&
      last?.type === 'text' &&
      last.agent === event.agent &&
      last.end === event.start
    ) {
      joined[joined.length - 1] = { ...last, end: event.end, text: last.text + event.text }
    } else joined.push(event)
  }
  return joined
}
