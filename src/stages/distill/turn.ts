import type { Contribution, TrajectoryEvent } from '../../schema/index.ts'
import { byTimeThenId, type EventOf, type Links } from './causal-order.ts'
import type { Omission } from './draft.ts'
import { saysMore, textsIn } from './said-elsewhere.ts'

/** A tool call with its output. */
export interface Call {
  event: string
  tool: string
  input: EventOf<'tool-called'>['input']
  output: { event: string; text: string }
}

/** What one event contributes to the stream. */
export interface Turn {
  event: string
  agent: string
  /** Undefined if the recording does not say. */
  as: Contribution | undefined
  thought: string
  words: string
  calls: Call[]
  answer?: { event: string; text: string }
  /** What of the event and of its calls is not in the turn. */
  leftOut: Omission[]
}

/** Why an event is skipped. */
export interface Skipped {
  skipped: string
}

/** Reads the turns of one run. */
export class TurnReader {
  readonly #links: Links
  /** The event that ends the run; undefined for a run without an answer. */
  readonly ending: string | undefined
  readonly #answered: EventOf<'answered'> | undefined
  /** If a recorder separates thoughts from text, a reply without them could not be parsed. */
  readonly #separatesThoughts: boolean

  constructor(links: Links) {
    this.#links = links
    const events = [...links.byId.values()]
    this.#separatesThoughts = events.some((event) => event.type === 'wrote' && event.said !== undefined)
    this.#answered = events.findLast((event) => event.type === 'answered')
    const cause = links.byId.get(this.#answered?.parent ?? '')
    const lastSaid = events.findLast((event) => event.type === 'wrote' && event.said?.as === 'answer')
    this.ending = (cause?.type === 'wrote' ? cause : (this.#answered ?? lastSaid))?.id
  }

  /** Undefined for an event that adds nothing by itself. */
  read(event: TrajectoryEvent): Turn | Skipped | undefined {
    switch (event.type) {
      case 'wrote':
        return this.#wrote(event)
      case 'tool-called':
        // A call that follows a turn was read with it.
        if (this.#links.byId.get(event.parent ?? '')?.type === 'wrote') return undefined
        return { ...speaker(event), as: 'call', thought: '', words: '', ...this.#calls([event]) }
      case 'tool-answered':
        return this.#strayResult(event)
      case 'answered':
        if (event !== this.#answered) return { skipped: 'a later answer ends the run' }
        if (event.id !== this.ending) return undefined
        return { ...speaker(event), ...nothingSaid, as: 'answer', answer: answerOf(event) }
      default:
        return undefined
    }
  }

  #wrote(event: EventOf<'wrote'>): Turn | Skipped {
    const children = this.#links.children(event.id)
    const called = children.filter((child) => child.type === 'tool-called')
    const ends = event.id === this.ending
    const unread = this.#separatesThoughts && event.said === undefined && called.length === 0 && !ends
    if (unread) return { skipped: 'an unusable reply' }
    if (!ends && this.#wasRepeated(event, children)) return { skipped: 'a reply that was retried' }
    const answered = ends ? this.#answered : undefined
    const parts = partsOf(event, ends, answered?.text)
    const turn: Turn = { ...speaker(event), ...parts, ...this.#calls(called) }
    if (ends)
      turn.answer = answered === undefined ? { event: event.id, text: parts.words } : answerOf(answered)
    // Only one answer ends a run; the others were suggestions.
    else if (turn.as === 'answer') turn.as = 'suggestion'
    const inputs = called.flatMap((call) =>
      call.type === 'tool-called' ? [call.tool, ...textsIn(call.input)] : [],
    )
    if (saysMore(event.text, [parts.thought, parts.words, turn.answer?.text ?? '', ...inputs]))
      turn.leftOut.push({ event: event.id, part: 'text', reason: 'beside its thought and its words' })
    return turn
  }

  /** A result that belongs to no call, or to one that has another. */
  #strayResult({ id, parent }: EventOf<'tool-answered'>): Skipped | undefined {
    if (this.#links.byId.get(parent ?? '')?.type !== 'tool-called')
      return { skipped: 'a result without a call' }
    const first = this.#links.children(parent!).find((child) => child.type === 'tool-answered')
    return first?.id === id ? undefined : { skipped: 'its call already has a result' }
  }

  #wasRepeated(event: EventOf<'wrote'>, children: readonly TrajectoryEvent[]): boolean {
    const failure = children.find((child) => child.type === 'failed')
    if (failure === undefined) return false
    const again = this.#links.children(failure.id).some((next) => next.agent === event.agent)
    const siblings = this.#links.children(event.parent ?? '')
    return again || siblings.some((other) => other.type === 'wrote' && byTimeThenId(event, other) < 0)
  }

  /** A call that failed outright reports why; one that never returned, or was retried at once, is left out. */
  #calls(called: readonly TrajectoryEvent[]): Pick<Turn, 'calls' | 'leftOut'> {
    const calls: Call[] = []
    const leftOut: Omission[] = []
    for (const [index, event] of called.entries()) {
      if (event.type !== 'tool-called') continue
      const { id, tool, input } = event
      const returned = this.#links.children(id)
      const answer = returned.find((child) => child.type === 'tool-answered')
      const failure = returned.find((child) => child.type === 'failed')
      const retried = called.slice(index + 1).some((later) => isSameCall(event, later))
      if (answer !== undefined)
        calls.push({ event: id, tool, input, output: { event: answer.id, text: answer.output } })
      else if (failure !== undefined && !retried)
        calls.push({ event: id, tool, input, output: { event: failure.id, text: failure.message } })
      else {
        const reason =
          failure === undefined ? 'a call that never returned' : 'a failed call that was repeated'
        leftOut.push({ event: id, part: 'call', reason })
      }
    }
    return { calls, leftOut }
  }
}

const nothingSaid = { thought: '', words: '', calls: [], leftOut: [] } as const satisfies Partial<Turn>

function speaker(event: TrajectoryEvent): { event: string; agent: string } {
  return { event: event.id, agent: event.agent }
}

function answerOf({ id, text }: EventOf<'answered'>): { event: string; text: string } {
  return { event: id, text }
}

/** Unstructured text is a thought, apart from the answer in it. */
function partsOf(
  { said, thought = '', text }: EventOf<'wrote'>,
  ends: boolean,
  answer: string | undefined,
): Pick<Turn, 'as' | 'words' | 'thought'> {
  if (said !== undefined) return { as: said.as, words: said.text, thought }
  if (!ends) return { as: undefined, words: '', thought: thought === '' ? text : thought }
  if (answer === undefined || thought !== '' || text.trim() === answer.trim())
    return { as: 'answer', words: text, thought }
  return { as: 'answer', words: answer, thought: withoutEnd(text.trim(), answer.trim()) }
}

const withoutEnd = (text: string, end: string): string =>
  end !== '' && text.endsWith(end) ? text.slice(0, -end.length).trimEnd() : text

function isSameCall(left: EventOf<'tool-called'>, right: TrajectoryEvent): boolean {
  return (
    right.type === 'tool-called' &&
    left.tool === right.tool &&
    JSON.stringify(left.input) === JSON.stringify(right.input)
  )
}
