import type { Checker, Verdict } from '../../schema/index.ts'

type Outcome = Verdict['outcome']

/** The tasks of one suite with the same checker. */
export interface SuiteCounts {
  suite: string
  checker: Checker
  tasks: number
  /** Verdicts on answers that must be accepted. */
  right: Record<Outcome, number>
  /** Verdicts on answers that must be rejected. */
  wrong: Record<Outcome, number>
}

export interface ValidationFailure {
  id: string
  suite: string
  /** Which answer got an unexpected verdict. */
  answer: 'right' | 'wrong'
  outcome: Outcome
  evidence: string
}

export interface ValidationReport {
  tasks: number
  suites: SuiteCounts[]
  /** How many answers were not checked, by reason. */
  notChecked: Record<string, number>
  /** The first thousand; `failed` counts them all. */
  failures: ValidationFailure[]
  failed: number
}

const failuresKept = 1_000
const noOutcomes = (): Record<Outcome, number> => ({ correct: 0, wrong: 0, undecided: 0 })

/** Counts the outcomes of a validation. */
export class Tally {
  readonly #suites = new Map<string, SuiteCounts>()
  readonly #notChecked: Record<string, number> = {}
  readonly #failures: ValidationFailure[] = []
  #failed = 0

  /** The counts of a suite, to be added to. */
  of(suite: string, checker: Checker): SuiteCounts {
    const key = JSON.stringify([suite, checker])
    let counts = this.#suites.get(key)
    if (counts === undefined) {
      counts = { suite, checker, tasks: 0, right: noOutcomes(), wrong: noOutcomes() }
      this.#suites.set(key, counts)
    }
    return counts
  }

  notChecked(reason: string): void {
    this.#notChecked[reason] = (this.#notChecked[reason] ?? 0) + 1
  }

  failed(failure: ValidationFailure): void {
    this.#failed++
    if (this.#failures.length < failuresKept) this.#failures.push(failure)
  }

  report(): ValidationReport {
    const suites = [...this.#suites.values()]
    return {
      tasks: suites.reduce((sum, { tasks }) => sum + tasks, 0),
      suites,
      notChecked: this.#notChecked,
      failures: this.#failures,
      failed: this.#failed,
    }
  }
}
