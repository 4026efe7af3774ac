import type { Verdict } from '../../schema/index.ts'

/** Why answers have no verdict that says anything. */
interface Reason {
  outcome: 'undecided' | 'unchecked'
  reason: string
  count: number
  examples: string[]
}

export interface CheckSummary {
  /** The answers of the run by outcome, and how many of them were checked now. */
  figures: Record<'correct' | 'wrong' | 'undecided' | 'unchecked' | 'checked now', number>
  reasons: Reason[]
}

const EXAMPLES = 3
const LONGEST = 160

/** Counts outcomes as they come. */
export class CheckReport {
  readonly figures: CheckSummary['figures'] = {
    correct: 0,
    wrong: 0,
    undecided: 0,
    unchecked: 0,
    'checked now': 0,
  }
  readonly #reasons = new Map<string, Reason>()

  before({ outcome }: Verdict): void {
    this.figures[outcome]++
  }

  checked(id: string, { outcome, checker, evidence }: Verdict): void {
    this.figures[outcome]++
    this.figures['checked now']++
    if (outcome === 'undecided') this.#count(outcome, `${checker}: ${evidence}`, id)
  }

  unchecked(id: string, reason: string): void {
    this.figures.unchecked++
    this.#count('unchecked', reason, id)
  }

  /** Most frequent reason first. */
  summary(): CheckSummary {
    const reasons = [...this.#reasons.values()].sort((one, other) => other.count - one.count)
    return { figures: this.figures, reasons }
  }

  #count(outcome: Reason['outcome'], text: string, id: string): void {
    const reason = text.slice(0, LONGEST)
    const known = this.#reasons.get(`${outcome} ${reason}`) ?? { outcome, reason, count: 0, examples: [] }
    this.#reasons.set(`${outcome} ${reason}`, known)
    known.count++
    if (known.examples.length < EXAMPLES) known.examples.push(id)
  }
}
