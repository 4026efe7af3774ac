import { createHash } from 'node:crypto'
import { percent } from '../../base/text/index.ts'
import { masked } from './masked.ts'
import { type Overlap, QuestionIndex } from './question-index.ts'

/** Why a question must not be trained on. The question itself is not included: some benchmarks must not be written to disk. */
interface Contamination {
  reason: string
  detail: string
}

interface CompareSettings {
  /** Words per n-gram. */
  overlap_words: number
  /** Shared n-grams, as a share of the shorter question's, from which two questions count as the same. */
  overlap_share: number
  /** Compare them once more with numbers and names masked. */
  paraphrases: boolean
}

/** Evaluation questions. Training on one of them, or much of one, would invalidate the evaluation. */
export class EvalQuestions {
  readonly #settings: CompareSettings
  readonly #asked: QuestionIndex
  readonly #masked: QuestionIndex
  readonly #digest = createHash('sha256')

  constructor(settings: CompareSettings) {
    this.#settings = settings
    this.#asked = new QuestionIndex(settings.overlap_words)
    this.#masked = new QuestionIndex(settings.overlap_words)
  }

  /** With `wholeOnly`, only an identical question counts as a match. */
  add(source: string, question: string, { wholeOnly = false } = {}): void {
    this.#digest.update(`${source}\0${wholeOnly}\0${question}\0`)
    this.#asked.add(source, question, wholeOnly)
    const template = wholeOnly ? undefined : this.#templateOf(question)
    if (template !== undefined) this.#masked.add(source, template, false)
  }

  /** Why a question must not be trained on; undefined if it may be. */
  contamination(question: string): Contamination | undefined {
    const same = this.#reached(this.#asked.nearest(question))
    if (same !== undefined)
      return { reason: `question is in ${same.source}`, detail: `${percent(same.share, 0)} overlap` }
    const template = this.#templateOf(question)
    const alike = template === undefined ? undefined : this.#reached(this.#masked.nearest(template))
    if (alike === undefined) return undefined
    return {
      reason: `question is a paraphrase of one in ${alike.source}`,
      detail: `${percent(alike.share, 0)} overlap without numbers and names`,
    }
  }

  digest(): string {
    return this.#digest.copy().digest('hex')
  }

  #reached(found: Overlap | undefined): Overlap | undefined {
    return found !== undefined && found.share >= this.#settings.overlap_share ? found : undefined
  }

  /**
   * The masked question, if it says enough by itself. Only where several quantities are given, names are
   * interchangeable: "Who directed @ in #?" asks something else for every name.
   */
  #templateOf(question: string): string | undefined {
    if (!this.#settings.paraphrases) return undefined
    const { text, quantities, words } = masked(question)
    return quantities >= 2 && words >= this.#settings.overlap_words ? text : undefined
  }
}
