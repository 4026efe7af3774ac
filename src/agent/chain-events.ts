import type { Grammar, Payload } from '../language/grammar/index.ts'
import type { Rollout } from '../schema/index.ts'
import { ChainSteps, type Step } from './chain-steps.ts'

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

/** A chain that is being written, as events. */
export class ChainEvents {
  readonly #steps: ChainSteps
  #found: ChainEvent[] = []
  #calls = 0
  #hasEnded = false

  constructor(grammar: Grammar) {
    this.#steps = new ChainSteps(grammar, {
      opened: () => {},
      text: (step, text) => this.#text(step, text),
      closed: (step) => this.#closed(step),
    })
  }

  /** How the call went whose output comes next. */
  called(made: Rollout['calls'][number]): void {
    this.#steps.called(made)
  }

  push(text: string, from: 'model' | 'tool'): ChainEvent[] {
    this.#steps.push(text, from)
    return this.#taken()
  }

  end(): ChainEvent[] {
    this.#hasEnded = true
    this.#steps.end()
    return this.#taken()
  }

  #taken(): ChainEvent[] {
    const found = this.#found
    this.#found = []
    return found
  }

  #text({ agent, kind }: Step, text: string): void {
    const turn = this.#steps.steps.length - 1
    if (kind === 'role') this.#found.push({ type: 'role', agent, turn, text })
    if (kind === 'answer') this.#found.push({ type: 'answer', text })
  }

  #closed({ agent, kind, text, payload, outcome = 'ok', ms = 0 }: Step): void {
    // A call that is cut off is not made.
    if (kind === 'call' && !this.#hasEnded)
      this.#found.push({ type: 'call', agent, call: this.#calls, payload, text })
    if (kind === 'observation') {
      const tool = this.#steps.steps.at(-2)?.agent ?? agent
      this.#found.push({ type: 'result', agent: tool, call: this.#calls++, text, outcome, ms })
    }
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
