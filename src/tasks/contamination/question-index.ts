import { hashShingles, WordBuffer, wordKey } from '../../base/digests/index.ts'

/** A similar question: where it is from, and shared n-grams as a share of the shorter question's. */
export interface Overlap {
  source: string
  share: number
}

/** Questions to compare others with, stored as hashes only: the texts are not kept. */
export class QuestionIndex {
  readonly #width: number
  /** With the number of n-grams. */
  readonly #known: { source: string; grams: number }[] = []
  readonly #whole = new Map<string, string>()
  /** Which questions contain an n-gram. */
  readonly #holders = new Map<number, number[]>()
  readonly #words = new WordBuffer()
  readonly #grams = new WordBuffer()

  /** `width`: words per n-gram. */
  constructor(width: number) {
    this.#width = width
  }

  /** With `wholeOnly`, only an identical question counts as a match. */
  add(source: string, question: string, wholeOnly: boolean): void {
    const whole = this.#read(question)
    if (this.#whole.has(whole)) return
    this.#whole.set(whole, source)
    if (wholeOnly) return
    const grams = this.#distinctGrams()
    for (const gram of grams) {
      const holders = this.#holders.get(gram)
      if (holders === undefined) this.#holders.set(gram, [this.#known.length])
      else holders.push(this.#known.length)
    }
    this.#known.push({ source, grams: grams.size })
  }

  /**
   * The most similar question. The overlap is relative to the shorter one, so that a question wrapped in instructions is
   * found too.
   */
  nearest(question: string): Overlap | undefined {
    const source = this.#whole.get(this.#read(question))
    if (source !== undefined) return { source, share: 1 }
    const grams = this.#distinctGrams()
    const common = new Map<number, number>()
    for (const gram of grams)
      for (const holder of this.#holders.get(gram) ?? []) common.set(holder, (common.get(holder) ?? 0) + 1)
    let best: Overlap | undefined
    for (const [holder, count] of common) {
      const known = this.#known[holder]!
      const share = count / Math.min(grams.size, known.grams)
      if (share > (best?.share ?? 0)) best = { source: known.source, share }
    }
    return best
  }

  /** Fills the buffers of words and n-grams and returns all words as one key. */
  #read(question: string): string {
    const key = wordKey(question, this.#words)
    this.#grams.clear()
    hashShingles(this.#words.values, this.#width, this.#grams)
    return key
  }

  /** A question shorter than one n-gram may be a common phrase, so only an identical question counts. */
  #distinctGrams(): Set<number> {
    return new Set(this.#words.size < this.#width ? [] : this.#grams.values)
  }
}
