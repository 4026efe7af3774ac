/** Saving takes at most about a twentieth of the time. */
const COST = 20

/** Says when enough time has passed for another checkpoint, so that a process that is killed loses little. */
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

  /** Saves, and waits longer for the next time where saving takes long. */
  async timed<T>(save: () => Promise<T>): Promise<T> {
    const began = this.#now()
    const result = await save()
    this.#last = this.#now()
    this.#waitMs = Math.max(1000 * this.#seconds, COST * (this.#last - began))
    return result
  }
}
