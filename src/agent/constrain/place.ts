import { SYMBOLS } from './symbols.ts'

/**
 * A place in a stream, as far as what may follow depends on it. Each symbol leads to another place, or to none where it
 * would make the stream wrong. The way is worked out once and remembered.
 */
export class Place {
  /** Places with the same key have the same future. */
  readonly key: string
  /** True where every character outside of ASCII may follow; elsewhere none may. */
  readonly wide: boolean
  /** The answer is given: only the end may follow. */
  readonly ended: boolean
  /** A call is complete: what follows is the tool's, not the model's. Who has spoken, for what comes after. */
  readonly called: readonly string[] | null
  readonly #ways: Array<Place | null> = new Array(SYMBOLS)
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
    let way = this.#ways[symbol]
    if (way === undefined) {
      way = this.#next(symbol) ?? null
      this.#ways[symbol] = way
    }
    return way
  }
}
