import { ChainParser, type Grammar, type ParseEvent, type Utterance } from '../language/grammar/index.ts'
import { TextStream, type Tokenizer } from '../language/tokens/index.ts'

/** What the model has completed: a call to make, a malformed call, or the answer. */
export type Completed =
  | { kind: 'call'; call: Utterance }
  | { kind: 'malformed'; agent: string; message: string }
  | { kind: 'answer'; answer: Utterance | undefined }

/** Where the text of one request or observation starts, and where each of its sampled tokens ends. */
export interface TextPart {
  start: number
  tokenEnds?: number[]
}

/** Parses a chain while it is written: tokens and inserted texts go in, calls and the answer come out. */
export class ChainReader {
  readonly #grammar: Grammar
  readonly #tokenizer: Tokenizer
  readonly #parser: ChainParser
  #stream: TextStream
  readonly parts: TextPart[] = []
  text = ''

  constructor(grammar: Grammar, tokenizer: Tokenizer) {
    this.#grammar = grammar
    this.#tokenizer = tokenizer
    this.#parser = new ChainParser(grammar)
    this.#stream = this.#newStream()
  }

  /** Reads up to the first token that completes something, and returns how many tokens that took. */
  read(tokens: ArrayLike<number>): { count: number; completed: Completed | undefined } {
    if (tokens.length === 0) return { count: 0, completed: undefined }
    const tokenEnds: number[] = []
    this.parts.push({ start: this.text.length, tokenEnds })
    for (let at = 0; at < tokens.length; at++) {
      const completed = this.#append(this.#stream.push(tokens[at]!))
      tokenEnds.push(this.text.length)
      if (completed !== undefined) return { count: at + 1, completed }
    }
    return { count: tokens.length, completed: undefined }
  }

  /** Text inserted by the runtime. A partially sampled character before it stays incomplete. */
  insert(text: string): void {
    this.#append(this.#stream.finish())
    this.#stream = this.#newStream()
    this.parts.push({ start: this.text.length })
    this.#append(text)
  }

  /** Finishes the text. */
  end(): void {
    this.#append(this.#stream.finish())
  }

  #newStream(): TextStream {
    return new TextStream(this.#tokenizer, { continuation: true, skipControlTokens: true })
  }

  #append(text: string): Completed | undefined {
    this.text += text
    return text === '' ? undefined : completedIn(this.#grammar, this.#parser.push(text))
  }
}

function completedIn(grammar: Grammar, events: readonly ParseEvent[]): Completed | undefined {
  const closed = events.findIndex(
    (event) =>
      event.type === 'agent-closed' && ['tool', 'answer'].includes(grammar.agents.get(event.agent)!.kind),
  )
  if (closed === -1) return undefined
  const { agent } = events[closed] as Extract<ParseEvent, { type: 'agent-closed' }>
  const rest = events.slice(closed)
  for (const event of rest) {
    if (event.type === 'call-ready') return { kind: 'call', call: event.call }
    if (event.type === 'answer-ready') return { kind: 'answer', answer: event.answer }
  }
  if (agent === grammar.answer.name) return { kind: 'answer', answer: undefined }
  const reasons = rest.flatMap((event) => (event.type === 'diagnostic' ? [event.diagnostic.message] : []))
  return { kind: 'malformed', agent, message: reasons[0] ?? 'it is empty' }
}
