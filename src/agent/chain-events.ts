import {
  ChainParser,
  type Grammar,
  type ParseEvent,
  type Payload,
  parseChain,
  STRAY,
} from '../language/grammar/index.ts'
import type { Rollout } from '../schema/index.ts'
import { answerText } from './tool-calls.ts'

/** What is new in a chain, in order. */
export type ChainEvent =
  /** More text of a role. A role that speaks again has another turn. */
  | { type: 'role'; agent: string; turn: number; text: string }
  /** A tool call; calls are numbered from 0. Without a payload, it could not be read. */
  | { type: 'call'; agent: string; call: number; payload: Payload | undefined; text: string }
  /** The tool's output, as the model reads it. */
  | {
      type: 'result'
      agent: string
      call: number
      text: string
      outcome: Rollout['calls'][number]['outcome']
      ms: number
    }
  /** More of the answer. The pieces joined are the answer. */
  | { type: 'answer'; text: string }

/**
 * Tells apart what the roles, tools and the answer contribute to a chain while it is written. It uses the grammar's parser, so a
 * tag inside a role's text is text; only an incomplete tag is held back, and an answer with a syntax until it can be read.
 */
export class ChainEvents {
  readonly #grammar: Grammar
  readonly #parser: ChainParser
  #made: Rollout['calls'][number] | undefined
  #turn = -1
  #calls = 0
  /** The open call, or the one whose result is due. */
  #call: { agent: string; text: string; due: boolean } | undefined
  /** Text outside all blocks: its turn, and white space that belongs to it only if more follows. */
  #stray: { turn: number; blank: string } | undefined
  #answer = ''
  #ended = false

  constructor(grammar: Grammar) {
    this.#grammar = grammar
    this.#parser = new ChainParser(grammar)
  }

  /** How the call went whose output comes next. */
  called(made: Rollout['calls'][number]): void {
    this.#made = made
  }

  push(text: string, from: 'model' | 'tool'): ChainEvent[] {
    if (from === 'tool') return this.#returned(text)
    // Text that an engine samples past a call or the answer is not part of the chain.
    if (text === '' || this.#ended || this.#call?.due === true) return []
    return this.#read(this.#parser.push(text))
  }

  end(): ChainEvent[] {
    return this.#ended || this.#call !== undefined ? [] : this.#read(this.#parser.end())
  }

  #read(events: readonly ParseEvent[]): ChainEvent[] {
    const found: ChainEvent[] = []
    for (const [at, event] of events.entries()) {
      if (this.#ended || this.#call?.due === true) break
      if (event.type === 'agent-opened') this.#opened(event.agent)
      else if (event.type === 'text') found.push(...this.#text(event.agent ?? STRAY, event.text))
      else if (event.type === 'agent-closed') found.push(...this.#closed(event.agent, events.slice(at + 1)))
    }
    return found
  }

  #opened(agent: string): void {
    this.#turn++
    this.#stray = undefined
    if (this.#kindOf(agent) === 'tool') this.#call = { agent, text: '', due: false }
  }

  #text(agent: string, text: string): ChainEvent[] {
    if (this.#call !== undefined) {
      this.#call.text += text
      return []
    }
    if (agent === this.#grammar.answer.name) return this.#answered(text)
    return agent === STRAY ? this.#strayed(text) : [{ type: 'role', agent, turn: this.#turn, text }]
  }

  #strayed(text: string): ChainEvent[] {
    const blank = this.#stray?.blank ?? ''
    if (text.trim() === '') {
      if (this.#stray !== undefined) this.#stray.blank += text
      return []
    }
    const turn = this.#stray?.turn ?? ++this.#turn
    const shown = this.#stray === undefined ? text.trimStart() : blank + text
    const end = shown.trimEnd()
    this.#stray = { turn, blank: shown.slice(end.length) }
    return [{ type: 'role', agent: STRAY, turn, text: end }]
  }

  /** An answer without a syntax of its own can be shown as it is written; blanks at its ends are not part of it. */
  #answered(text: string): ChainEvent[] {
    if (this.#grammar.answer.payload.syntax !== 'text') return []
    const before = this.#answer.trim()
    this.#answer += text
    const piece = this.#answer.trim().slice(before.length)
    return piece === '' ? [] : [{ type: 'answer', text: piece }]
  }

  #closed(agent: string, rest: readonly ParseEvent[]): ChainEvent[] {
    const kind = this.#kindOf(agent)
    if (kind === 'tool') {
      this.#call!.due = true
      const ready = rest.find((event) => event.type === 'call-ready')
      return [
        { type: 'call', agent, call: this.#calls, payload: ready?.call.payload, text: this.#call!.text },
      ]
    }
    if (kind !== 'answer') return []
    this.#ended = true
    const ready = rest.find((event) => event.type === 'answer-ready')
    const [whole, shown] = [ready === undefined ? '' : answerText(ready.answer.payload), this.#answer.trim()]
    // Escapes in the answer are resolved only now; what has been shown stays as it is.
    return whole.startsWith(shown) && whole !== shown
      ? [{ type: 'answer', text: whole.slice(shown.length) }]
      : []
  }

  #returned(text: string): ChainEvent[] {
    this.#parser.push(text)
    const made = this.#made
    const agent = made?.agent ?? this.#call?.agent ?? STRAY
    this.#call = undefined
    this.#made = undefined
    const output = parseChain(this.#grammar, text).blocks[0]?.text ?? text
    const { outcome = 'ok', ms = 0 } = made ?? {}
    return [{ type: 'result', agent, call: this.#calls++, text: output, outcome, ms }]
  }

  #kindOf(agent: string): string {
    return this.#grammar.agents.get(agent)!.kind
  }
}

/** The events of a chain that is complete. */
export function eventsOfRollout(
  grammar: Grammar,
  { spans, calls }: Pick<Rollout, 'spans' | 'calls'>,
): ChainEvent[] {
  const reader = new ChainEvents(grammar)
  const events = spans.flatMap(({ text, kind, origin }) => {
    if (kind !== 'observation' || !('call' in origin)) return reader.push(text, 'model')
    const made = calls[origin.call]
    if (made !== undefined) reader.called(made)
    return reader.push(text, 'tool')
  })
  return [...events, ...reader.end()]
}
