import { Quotations } from './quotations.ts'

/** Shorter sentences ("Good.", "1.") may repeat: they carry no information. */
const SHORTEST = 12

/** Removes from thoughts what the stream has already said. */
export class RepetitionFilter {
  readonly #sentences = new Set<string>()
  readonly #texts = new Set<string>()
  readonly #quotations = new Quotations()

  add(text: string): void {
    this.#texts.add(text.trim())
    for (const sentence of sentences(text)) this.#note(sentence.trim())
  }

  /** Adds what a tool returned. It is also recognized where an agent quotes it. */
  addOutput(text: string): void {
    this.add(text)
    this.#quotations.add(text)
  }

  /** A text without what it quotes of tool output; empty if it says nothing else. */
  withoutQuotations(text: string): string {
    return this.#quotations.without(text)
  }

  /**
   * Adds the new part of a text, without sentences that occurred word for word, and returns it; empty if nothing is
   * new.
   */
  addNew(text: string): string {
    const { rest, kept } = this.#newIn(text)
    if (rest === '') return ''
    this.#texts.add(rest)
    for (const sentence of kept) this.#note(sentence.trim())
    return rest
  }

  newPart(text: string): string {
    return this.#newIn(text).rest
  }

  #newIn(text: string): { rest: string; kept: string[] } {
    const trimmed = this.#texts.has(text.trim()) ? '' : this.#quotations.without(text).trim()
    if (trimmed === '' || this.#texts.has(trimmed)) return { rest: '', kept: [] }
    const all = sentences(trimmed)
    const kept = all.filter((sentence) => !this.#sentences.has(sentence.trim()))
    if (kept.length === all.length) return { rest: trimmed, kept }
    const rest = kept.join('').trim()
    return { rest: /[\p{L}\p{N}]/u.test(rest) ? rest : '', kept }
  }

  #note(sentence: string): void {
    if (sentence.length >= SHORTEST) this.#sentences.add(sentence)
  }
}

/**
 * The end of a sentence or line, with the white space after it. Only one star, so that no input takes quadratic time.
 */
const END = /(?:[.!?。！？](?=\s)|\n)\s*/g

/**
 * Splits a text into sentences and lines, each with the white space after it; joined they are the text. A fenced
 * block is one piece, because code without one of its lines is different code.
 */
export function sentences(text: string): string[] {
  const pieces: string[] = []
  let from = 0
  for (;;) {
    const fence = nextFence(text, from)
    splitPart(text, from, fence?.start ?? text.length, pieces)
    if (fence === undefined) return pieces
    pieces.push(text.slice(fence.start, fence.end))
    from = fence.end
  }
}

function splitPart(text: string, start: number, end: number, pieces: string[]): void {
  const part = start === 0 && end === text.length ? text : text.slice(start, end)
  let from = 0
  END.lastIndex = 0
  for (let match = END.exec(part); match !== null; match = END.exec(part)) {
    if (isNumbering(part, from, match.index)) continue
    pieces.push(part.slice(from, END.lastIndex))
    from = END.lastIndex
  }
  if (from < part.length) pieces.push(part.slice(from))
}

/** A fenced block that starts a line, up to the end of its closing line. */
function nextFence(text: string, from: number): { start: number; end: number } | undefined {
  let start = text.indexOf('```', from)
  while (start > 0 && text[start - 1] !== '\n') start = text.indexOf('```', start + 3)
  if (start === -1) return undefined
  const close = text.indexOf('\n```', start + 3)
  const line = close === -1 ? -1 : text.indexOf('\n', close + 4)
  return { start, end: line === -1 ? text.length : line + 1 }
}

/** "1." at the start of a line is a list number, not a sentence. */
function isNumbering(text: string, from: number, stop: number): boolean {
  for (let at = from; at < stop; at++) {
    const code = text.charCodeAt(at)
    if (code < 48 || code > 57) return false
  }
  return stop > from && text[stop] === '.'
}
