import { createHash } from 'node:crypto'
import { hashShingles, WordBuffer, wordKey } from '../../base/digests/index.ts'
import { percent } from '../../base/text/index.ts'
import type { FilterSettings } from './config.ts'
import type { Drop } from './examine.ts'

interface Known {
  source: string
  /** How many runs of words it has. */
  runs: number
}

/** The questions of the sets a model will be measured on, as hashes: the texts themselves are not kept. */
export class EvalQuestions {
  readonly #width: number
  readonly #known: Known[] = []
  readonly #whole = new Map<string, string>()
  /** Which questions hold a run of words. */
  readonly #holders = new Map<number, number[]>()
  readonly #digest = createHash('sha256')
  readonly #words = new WordBuffer()
  readonly #runs = new WordBuffer()

  /** `width` words in a row are one run. */
  constructor(width: number) {
    this.#width = width
  }

  /** With `wholeOnly`, a question counts only if it is the same from beginning to end. */
  add(source: string, question: string, { wholeOnly = false } = {}): void {
    this.#digest.update(`${source}\0${question}\0`)
    const whole = this.#read(question)
    if (this.#whole.has(whole)) return
    this.#whole.set(whole, source)
    if (wholeOnly) return
    const runs = this.#distinctRuns()
    for (const run of runs) {
      const holders = this.#holders.get(run)
      if (holders === undefined) this.#holders.set(run, [this.#known.length])
      else holders.push(this.#known.length)
    }
    this.#known.push({ source, runs: runs.size })
  }

  /**
   * The eval question nearest to this one, and how much the two share: common runs of words as a share of those of the
   * shorter, so that a question wrapped in instructions is found too.
   */
  overlap(question: string): { source: string; share: number } | undefined {
    const source = this.#whole.get(this.#read(question))
    if (source !== undefined) return { source, share: 1 }
    const runs = this.#distinctRuns()
    const common = new Map<number, number>()
    for (const run of runs)
      for (const holder of this.#holders.get(run) ?? []) common.set(holder, (common.get(holder) ?? 0) + 1)
    let best: { source: string; share: number } | undefined
    for (const [holder, count] of common) {
      const known = this.#known[holder]!
      const share = count / Math.min(runs.size, known.runs)
      if (share > (best?.share ?? 0)) best = { source: known.source, share }
    }
    return best
  }

  /** Changes when a question does. */
  digest(): string {
    return this.#digest.copy().digest('hex')
  }

  /** Leaves words and runs in their buffers and returns all words as one key. */
  #read(question: string): string {
    const key = wordKey(question, this.#words)
    this.#runs.clear()
    hashShingles(this.#words.values, this.#width, this.#runs)
    return key
  }

  /** Fewer words than a run make a phrase that anyone may use; only the whole question counts then. */
  #distinctRuns(): Set<number> {
    return new Set(this.#words.size < this.#width ? [] : this.#runs.values)
  }
}

/** What asks a question of an eval set, or much of one, would make its result worthless. */
export function contaminated(
  question: string,
  evalQuestions: EvalQuestions,
  settings: Pick<FilterSettings, 'overlap_share'>,
): Drop | undefined {
  const found = evalQuestions.overlap(question)
  if (found === undefined || found.share < settings.overlap_share) return undefined
  // The question itself is not told: some benchmarks must not be written to disk.
  return {
    reason: `question is in ${found.source}`,
    detail: `${percent(found.share, 0)} of its words`,
  }
}
