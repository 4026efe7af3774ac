import type { Diagnostic } from './diagnostic.ts'
import type { Payload } from './payload/types.ts'

/** A tool call or an answer with its parsed payload. */
export interface Utterance {
  agent: string
  payload: Payload
  /** Range of the whole block, tags included. */
  start: number
  end: number
  /** True if the block or its payload had to be repaired. Never true in strict mode. */
  repaired: boolean
}

/**
 * What the parser reports, in text order. Offsets are UTF-16 positions in the raw text. A text event carries what is new
 * since the last one, so its length depends on how the input was chunked; after `joinText`, the events do not.
 */
export type ParseEvent =
  | { type: 'agent-opened'; agent: string; start: number; end: number; repaired: boolean }
  /** Agent null: between blocks. */
  | { type: 'text'; agent: string | null; start: number; end: number; text: string }
  /** `start` equals `end` if the closing tag was missing. */
  | { type: 'agent-closed'; agent: string; start: number; end: number; repaired: boolean }
  | { type: 'call-ready'; call: Utterance }
  | { type: 'answer-ready'; answer: Utterance }
  | { type: 'diagnostic'; diagnostic: Diagnostic }

/** Joins adjacent text events of the same agent. */
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
