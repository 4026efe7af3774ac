import { sentences } from './sentences.ts'

/** Shorter ones ("Good.", "1.") may be said again: they carry nothing by themselves. */
const SHORTEST = 12

/** What the stream has said so far, so that thoughts need not say it again. */
export class SaidBefore {
  readonly #sentences = new Set<string>()
  readonly #texts = new Set<string>()

  add(text: string): void {
    this.#texts.add(text.trim())
    for (const sentence of sentences(text)) this.#note(sentence.trim())
  }

  /** Says what is new in a text, without the sentences that were said word for word. Empty where nothing is. */
  sayNew(text: string): string {
    const { rest, kept } = this.#newIn(text)
    if (rest === '') return ''
    this.#texts.add(rest)
    for (const sentence of kept) this.#note(sentence.trim())
    return rest
  }

  fresh(text: string): string {
    return this.#newIn(text).rest
  }

  #newIn(text: string): { rest: string; kept: string[] } {
    const trimmed = text.trim()
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
