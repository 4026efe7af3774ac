import type { Diagnostic, DiagnosticCode } from './diagnostic.ts'
import { unescapeBody } from './escape.ts'
import type { ParseEvent } from './events.ts'
import type { Agent, Grammar } from './grammar.ts'
import { parsePayload } from './payload/payload.ts'
import { type FoundTag, nextTag } from './tag-scanner.ts'

export interface ParserOptions {
  /** Disables repairs: malformed blocks are reported and give no call or answer. */
  strict?: boolean
}

interface OpenBlock {
  agent: Agent
  start: number
  bodyStart: number
  /** Pieces of the body, kept only if its payload will be parsed. */
  body: string[] | null
  /** Something in this block was repaired or, in strict mode, is wrong. */
  faulty: boolean
}

/** The repair that leaves the characters in place. */
const KEPT = 'kept as text'

/**
 * Parses a chain-of-agents stream as it arrives. Feed any chunks to {@link push}, then call {@link end}. It never throws, whatever
 * the text; it holds back at most one possible tag; its time is linear in the length of the text.
 *
 * Inside a block, everything up to the block's own closing tag is its text: a tool tag written within `<think>` is never a call.
 * After the answer, everything is text.
 *
 * @example
 * import { ChainParser, loadGrammar } from 'chain-of-agents'
 *
 * const parser = new ChainParser(await loadGrammar('web'))
 * for (const chunk of ['<think>Look it up.</th', 'ink><web_search>Gatun Lake</web_search>']) {
 *   for (const event of parser.push(chunk)) {
 *     if (event.type === 'call-ready') console.log(event.call.agent, event.call.payload)
 *   }
 * }
 */
export class ChainParser {
  readonly #grammar: Grammar
  readonly #strict: boolean
  #events: ParseEvent[] = []
  /** Buffered characters, starting at absolute position #position. */
  #pending = ''
  #position = 0
  #open: OpenBlock | null = null
  #ended = false
  /** The range of stray text so far, from its first to its last non-blank character. */
  #stray: { start: number; end: number } | null = null
  /** Tags opened inside the last closed block, to distinguish crossed tags from stray ones. */
  #nested = new Set<string>()

  constructor(grammar: Grammar, options: ParserOptions = {}) {
    this.#grammar = grammar
    this.#strict = options.strict ?? false
  }

  push(chunk: string): ParseEvent[] {
    this.#consume(this.#pending + chunk, false)
    return this.#flush()
  }

  /** Marks the end of the text: processes the buffer and closes the open block. */
  end(): ParseEvent[] {
    this.#consume(this.#pending, true)
    this.#closeAtEnd()
    this.#reportStray()
    return this.#flush()
  }

  #flush(): ParseEvent[] {
    const events = this.#events
    this.#events = []
    return events
  }

  #consume(text: string, complete: boolean): void {
    let from = 0
    let at = 0
    for (;;) {
      const found = this.#ended ? null : nextTag(text, at)
      if (found === null || (found.kind === 'undecided' && complete)) break
      if (found.kind === 'undecided') {
        this.#text(text, from, found.start)
        this.#hold(text, found.start)
        return
      }
      at = found.end
      const verdict = this.#classify(found)
      if (verdict === 'plain') continue
      // Text before the tag is emitted first, so that events are in text order for any chunking.
      this.#text(text, from, found.start)
      from = found.end
      if (verdict === 'structure') this.#tag(found)
      else this.#misplaced(found, verdict)
    }
    const cut = complete && this.#open !== null ? this.#partialClose(text, from) : text.length
    this.#text(text, from, cut)
    this.#hold(text, cut)
  }

  /** Keeps what follows `cut` in the buffer. */
  #hold(text: string, cut: number): void {
    this.#pending = text.slice(cut)
    this.#position += cut
  }

  /** Whether a tag at its position is structure, plain text, or an error. */
  #classify(tag: FoundTag): 'structure' | 'plain' | DiagnosticCode {
    const agent = this.#grammar.byTag.get(tag.name.toLowerCase())
    const open = this.#open
    const isSpelledRight = !this.#strict || agent?.tag === tag.name
    if (open === null) {
      if (agent === undefined) return 'unknown-tag'
      if (!tag.closing) return isSpelledRight ? 'structure' : 'wrong-case'
      return this.#nested.has(agent.name) ? 'crossed-tag' : 'stray-close'
    }
    // HTML in a text is fine, and tool output may contain anything. Only the grammar's own tags are reported.
    if (agent === undefined) return 'plain'
    if (tag.closing && agent === open.agent) return isSpelledRight ? 'structure' : 'wrong-case'
    if (open.agent.kind === 'observation') return 'plain'
    // The opening tag of this nested pair was already reported.
    if (tag.closing && this.#nested.delete(agent.name)) return 'plain'
    return tag.closing ? 'crossed-tag' : 'nested-tag'
  }

  /** Reports a misplaced tag and keeps it as text. */
  #misplaced(tag: FoundTag, code: DiagnosticCode): void {
    const open = this.#open
    if (open === null) this.#reportStray()
    this.#report(code, misplacedMessage(code, tag, open?.agent.tag), tag, KEPT)
    const text = `<${tag.closing ? '/' : ''}${tag.name}>`
    const start = this.#position + tag.start
    this.#events.push({
      type: 'text',
      agent: open?.agent.name ?? null,
      start,
      end: start + text.length,
      text,
    })
    if (open === null) return
    open.faulty = true
    open.body?.push(text)
    if (code === 'nested-tag') this.#nested.add(this.#grammar.byTag.get(tag.name.toLowerCase())!.name)
  }

  #tag(tag: FoundTag): void {
    const agent = this.#grammar.byTag.get(tag.name.toLowerCase())!
    const start = this.#position + tag.start
    const end = this.#position + tag.end
    const isMisspelled = tag.name !== agent.tag
    if (tag.closing) {
      const open = this.#open!
      if (isMisspelled)
        this.#report('wrong-case', `</${tag.name}> should be </${agent.tag}>`, tag, `read as </${agent.tag}>`)
      open.faulty ||= isMisspelled
      this.#close(start, end, isMisspelled)
      return
    }
    this.#reportStray()
    this.#nested.clear()
    if (isMisspelled)
      this.#report('wrong-case', `<${tag.name}> should be <${agent.tag}>`, tag, `read as <${agent.tag}>`)
    this.#events.push({ type: 'agent-opened', agent: agent.name, start, end, repaired: isMisspelled })
    const readsPayload = agent.kind === 'tool' || agent.kind === 'answer'
    this.#open = { agent, start, bodyStart: end, body: readsPayload ? [] : null, faulty: isMisspelled }
  }

  #text(text: string, from: number, to: number): void {
    if (from >= to) return
    const piece = text.slice(from, to)
    const start = this.#position + from
    this.#events.push({
      type: 'text',
      agent: this.#open?.agent.name ?? null,
      start,
      end: start + piece.length,
      text: piece,
    })
    if (this.#open === null) this.#collectStray(piece, start)
    else this.#open.body?.push(piece)
  }

  #close(start: number, end: number, repaired: boolean): void {
    const { agent, start: blockStart, bodyStart, body, faulty } = this.#open!
    this.#open = null
    this.#events.push({ type: 'agent-closed', agent: agent.name, start, end, repaired })
    if (agent.kind === 'answer') this.#ended = true
    if (body === null) return
    const { payload, problems } = parsePayload(agent, unescapeBody(agent.tag, body.join('')))
    for (const { code, message, repair } of problems) {
      this.#diagnose({ code, message, start: bodyStart, end: start, agent: agent.name, repair })
    }
    const isFaulty = faulty || problems.length > 0
    if (payload === undefined || (this.#strict && isFaulty)) return
    const utterance = { agent: agent.name, payload, start: blockStart, end, repaired: isFaulty }
    if (agent.kind === 'answer') this.#events.push({ type: 'answer-ready', answer: utterance })
    else this.#events.push({ type: 'call-ready', call: utterance })
  }

  /** For a stream that ends within the closing tag: its characters are not part of the body. */
  #partialClose(text: string, from: number): number {
    const { agent } = this.#open!
    const start = text.lastIndexOf('<')
    const rest = text.slice(start).toLowerCase()
    const isPartial =
      !this.#strict && start >= from && rest.length > 1 && `</${agent.tag.toLowerCase()}>`.startsWith(rest)
    return isPartial ? start : text.length
  }

  #closeAtEnd(): void {
    const open = this.#open
    if (open === null) return
    const end = this.#position + this.#pending.length
    this.#diagnose({
      code: 'unclosed-tag',
      message: `<${open.agent.tag}> is not closed`,
      start: open.start,
      end: open.bodyStart,
      agent: open.agent.name,
      repair: 'closed at the end of the text',
    })
    if (this.#strict) return
    open.faulty = true
    this.#close(this.#position, end, true)
    this.#position = end
    this.#pending = ''
  }

  #collectStray(piece: string, start: number): void {
    const trimmed = piece.trim()
    if (trimmed === '') return
    const first = start + piece.indexOf(trimmed)
    this.#stray ??= { start: first, end: 0 }
    this.#stray.end = first + trimmed.length
  }

  #reportStray(): void {
    if (this.#stray === null) return
    const code = this.#ended ? 'text-after-end' : 'stray-text'
    const message = this.#ended ? 'there is text after the answer' : 'there is text outside all blocks'
    this.#diagnose({ code, message, ...this.#stray, agent: null, repair: KEPT })
    this.#stray = null
  }

  #report(code: DiagnosticCode, message: string, tag: FoundTag, repair: string | null): void {
    const agent = this.#open?.agent.name ?? null
    this.#diagnose({
      code,
      message,
      start: this.#position + tag.start,
      end: this.#position + tag.end,
      agent,
      repair,
    })
  }

  #diagnose(diagnostic: Diagnostic): void {
    this.#events.push({
      type: 'diagnostic',
      diagnostic: this.#strict ? { ...diagnostic, repair: null } : diagnostic,
    })
  }
}

function misplacedMessage(code: DiagnosticCode, tag: FoundTag, open: string | undefined): string {
  const written = `<${tag.closing ? '/' : ''}${tag.name}>`
  if (code === 'unknown-tag') return `${written} is not a tag of this grammar`
  if (code === 'wrong-case') return `${written} is written in the wrong case`
  if (code === 'stray-close') return `${written} closes nothing`
  if (open === undefined) return `${written} closes a tag that was opened inside another block`
  return `${written} is inside <${open}>, which is still open`
}
