import type { Format } from './format.ts'

export interface CheckResult {
  format: string
  folder: string
  /**
   * `same`: exactly the same text, or tokens, trained on and masked. `differs as stated`: only in ways that are known
   * for the format and counted in `figures`. `broken`: see the problems.
   */
  verdict: 'same' | 'differs as stated' | 'broken'
  rows: number
  /** Rows that agree in every character or token. */
  same: number
  /** The first few; `problemCount` is the total. */
  problems: string[]
  problemCount: number
  figures: Record<string, number>
  /** What the format adds or loses for any data. */
  differences: readonly string[]
}

const SHOWN = 10

/** Collects the findings of a check. */
export class Findings {
  rows = 0
  same = 0
  readonly #problems: string[] = []
  #problemCount = 0
  readonly #figures: Record<string, number> = {}

  problem(text: string): void {
    this.#problemCount += 1
    if (this.#problems.length < SHOWN) this.#problems.push(text)
  }

  count(figure: string, amount: number): void {
    this.#figures[figure] = (this.#figures[figure] ?? 0) + amount
  }

  result(format: Format, folder: string): CheckResult {
    const { rows, same } = this
    const clean = this.#problemCount === 0
    return {
      format: format.name,
      folder,
      verdict: clean ? (same === rows ? 'same' : 'differs as stated') : 'broken',
      rows,
      same,
      problems: this.#problems,
      problemCount: this.#problemCount,
      figures: this.#figures,
      differences: format.differences,
    }
  }
}
