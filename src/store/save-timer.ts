/** Saving takes at most about a twentieth of the time. */
const COST = 20

/** Decides when to save another checkpoint, so that a killed process loses little work. */
export class SaveTimer {
  readonly #seconds: number
  readonly #now: () => number
  #last: number
  #waitMs: number

  constructor(seconds: number, now: () => number = () => performance.now()) {
    this.#seconds = seconds
    this.#now = now
    this.#last = now()
    this.#waitMs = 1000 * seconds
  }

  get isDue(): boolean {
    return this.#now() - this.#last >= this.#waitMs
  }

  /** Saves, and extends the interval if saving is slow. */
  async timed<T>(save: () => Promise<T>): Promise<T> {
    const startedAt = this.#now()
    const result = await save()
    this.#last = this.#now()
    this.#waitMs = Math.max(1000 * this.#seconds, COST * (this.#last - startedAt))
    return result
  }
}
