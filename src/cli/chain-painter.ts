import pc from 'picocolors'
import { ChainParser, type Grammar, type ParseEvent } from '../language/grammar/index.ts'
import { type Colors, paintKind } from './paint.ts'
import { sanitize } from './sanitize.ts'

export interface PainterOptions {
  write: (text: string) => void
  colors?: Colors
  /** The output is a terminal, where a line can be redrawn: a tool is then shown while it runs. */
  live?: boolean
  now?: () => number
}

/** Clears the line, so that it can be redrawn. */
const CLEAR = '\r\u001b[K'

/**
 * Shows a chain as it is written, colored by agent. It uses the grammar's parser, so a tag inside an agent's text does
 * not change the color; only an incomplete tag is held back.
 */
export class ChainPainter {
  readonly #grammar: Grammar
  readonly #parser: ChainParser
  readonly #write: (text: string) => void
  readonly #colors: Colors
  readonly #live: boolean
  readonly #now: () => number
  /** Text for which the parser has not emitted an event yet, and its offset. */
  #raw = ''
  #position = 0
  #tool: { name: string; since: number } | undefined
  #endsLine = true
  /** The tool's line already ended with a line break, so the next one is skipped. */
  #skipsBreak = false

  constructor(grammar: Grammar, { write, colors = pc, live = false, now }: PainterOptions) {
    this.#grammar = grammar
    this.#parser = new ChainParser(grammar)
    this.#write = write
    this.#colors = colors
    this.#live = live
    this.#now = now ?? (() => performance.now())
  }

  push(text: string, from: 'model' | 'tool'): void {
    // Text that an engine samples past a call is not part of the chain.
    if (text === '' || (from === 'model' && this.#tool !== undefined)) return
    if (from === 'tool') this.#toolReturned()
    this.#raw += text
    const events = this.#parser.push(text)
    this.#show(events)
    const call = events.find((event) => event.type === 'call-ready')
    if (call !== undefined) this.#toolCalled(call.call.agent)
  }

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
      this.#paint(event.agent, sanitize(piece))
    }
  }

  #paint(agent: string | null, text: string): void {
    const shown = this.#skipsBreak && text.startsWith('\n') ? text.slice(1) : text
    if (text !== '') this.#skipsBreak = false
    const kind = agent === null ? undefined : this.#grammar.agents.get(agent)!.kind
    const painted =
      kind === undefined ? shown : paintKind(kind === 'tool' ? 'call' : kind, shown, this.#colors)
    this.#put(shown, painted)
  }

  #put(text: string, painted = text): void {
    if (text === '') return
    this.#endsLine = text.endsWith('\n')
    this.#write(painted)
  }

  #toolCalled(name: string): void {
    this.#tool = { name, since: this.#now() }
    if (!this.#live) return
    if (!this.#endsLine) this.#put('\n')
    this.#write(this.#colors.dim(`▸ ${name} …`))
  }

  #toolReturned(): void {
    if (this.#tool === undefined) return
    const { name, since } = this.#tool
    this.#tool = undefined
    if (this.#live) this.#write(CLEAR)
    else if (!this.#endsLine) this.#put('\n')
    const seconds = ((this.#now() - since) / 1000).toFixed(2)
    this.#write(`${this.#colors.dim(`▸ ${name} ${seconds} s`)}\n`)
    this.#endsLine = true
    this.#skipsBreak = true
  }
}
