import pc from 'picocolors'
import { ChainParser, type Grammar, type ParseEvent } from '../language/grammar/index.ts'
import { harmless } from './live-text.ts'
import { type Colours, paintKind } from './paint.ts'

export interface PainterOptions {
  write: (text: string) => void
  colours?: Colours
  /** The output is a terminal, where a line can be replaced: a tool is then shown while it is at work. */
  live?: boolean
  now?: () => number
}

/** A line is emptied, and written anew. */
const CLEAR = '\r\u001b[K'

/**
 * Shows a chain while it is written, in the colours of who speaks. The grammar's parser reads along, so a tag within
 * the text of an agent does not change the colour; it holds back no more than a tag that has been begun.
 */
export class ChainPainter {
  readonly #grammar: Grammar
  readonly #parser: ChainParser
  readonly #write: (text: string) => void
  readonly #colours: Colours
  readonly #live: boolean
  readonly #now: () => number
  /** Text that the parser has not told of, and where it begins. */
  #raw = ''
  #position = 0
  #tool: { name: string; since: number } | undefined
  #endsLine = true
  /** The line about a tool has ended the line already. */
  #skipsBreak = false

  constructor(grammar: Grammar, { write, colours = pc, live = false, now }: PainterOptions) {
    this.#grammar = grammar
    this.#parser = new ChainParser(grammar)
    this.#write = write
    this.#colours = colours
    this.#live = live
    this.#now = now ?? (() => performance.now())
  }

  push(text: string, from: 'model' | 'tool'): void {
    // What an engine writes beyond a call is not part of the chain.
    if (text === '' || (from === 'model' && this.#tool !== undefined)) return
    if (from === 'tool') this.#toolIsDone()
    this.#raw += text
    const events = this.#parser.push(text)
    this.#show(events)
    const call = events.find((event) => event.type === 'call-ready')
    if (call !== undefined) this.#toolIsCalled(call.call.agent)
  }

  /** Nothing follows; the line is ended. */
  end(): void {
    if (this.#tool !== undefined && this.#live) this.#write(CLEAR)
    this.#tool = undefined
    this.#show(this.#parser.end())
    if (!this.#endsLine) this.#put('\n')
  }

  #show(events: readonly ParseEvent[]): void {
    for (const event of events) {
      if (event.type !== 'text' && event.type !== 'agent-opened' && event.type !== 'agent-closed') continue
      const piece = this.#raw.slice(event.start - this.#position, event.end - this.#position)
      this.#raw = this.#raw.slice(event.end - this.#position)
      this.#position = event.end
      this.#paint(event.agent, harmless(piece))
    }
  }

  #paint(agent: string | null, text: string): void {
    const shown = this.#skipsBreak && text.startsWith('\n') ? text.slice(1) : text
    if (text !== '') this.#skipsBreak = false
    const kind = agent === null ? undefined : this.#grammar.agents.get(agent)!.kind
    const painted =
      kind === undefined ? shown : paintKind(kind === 'tool' ? 'call' : kind, shown, this.#colours)
    this.#put(shown, painted)
  }

  #put(text: string, painted = text): void {
    if (text === '') return
    this.#endsLine = text.endsWith('\n')
    this.#write(painted)
  }

  #toolIsCalled(name: string): void {
    this.#tool = { name, since: this.#now() }
    if (!this.#live) return
    if (!this.#endsLine) this.#put('\n')
    this.#write(this.#colours.dim(`▸ ${name} …`))
  }

  #toolIsDone(): void {
    if (this.#tool === undefined) return
    const { name, since } = this.#tool
    this.#tool = undefined
    if (this.#live) this.#write(CLEAR)
    else if (!this.#endsLine) this.#put('\n')
    const seconds = ((this.#now() - since) / 1000).toFixed(2)
    this.#write(`${this.#colours.dim(`▸ ${name} ${seconds} s`)}\n`)
    this.#endsLine = true
    this.#skipsBreak = true
  }
}
