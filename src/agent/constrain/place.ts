import { SYMBOLS } from './symbols.ts'

/**
 * A state of the stream automaton. Each symbol leads to another state, or to none if it is invalid. Transitions are
 * computed once and cached.
 */
export class Place {
  /** States with the same key are equivalent. */
  readonly key: string
  /** Whether non-ASCII characters may follow: either all or none may. */
  readonly wide: boolean
  /** The answer is complete: only an end token may follow. */
  readonly ended: boolean
  /** A call is complete: the tool's output follows. Holds the previous speakers, for what comes after it. */
  readonly called: readonly string[] | null
  readonly #transitions: Array<Place | null> = new Array(SYMBOLS)
  readonly #next: (symbol: number) => Place | undefined

  constructor(
    key: string,
    next: (symbol: number) => Place | undefined,
    { wide = false, ended = false, called = null }: Partial<Pick<Place, 'wide' | 'ended' | 'called'>> = {},
  ) {
    this.key = key
    this.wide = wide
    this.ended = ended
    this.called = called
    this.#next = next
  }

  step(symbol: number): Place | null {
    let reached = this.#transitions[symbol]
    if (reached === undefined) {
      reached = this.#next(symbol) ?? null
      this.#transitions[symbol] = reached
    }
    return reached
  }
}
