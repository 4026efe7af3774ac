/** Saving takes at most about a twentieth of the time. */
const COST = 20

/**
 * Decides when to save another checkpoint, so that a killed process loses little work, and saves while training continues:
 * one checkpoint at a time.
 */
export class SaveTimer {
  readonly #seconds: number
  readonly #now: () => number
  #last: number
  #waitMs: number
  #running: Promise<void> | undefined
  #failure: { cause: unknown } | undefined

  constructor(seconds: number, now: () => number = () => performance.now()) {
    this.#seconds = seconds
    this.#now = now
    this.#last = now()
    this.#waitMs = 1000 * seconds
  }

  get isDue(): boolean {
    return this.#running === undefined && this.#now() - this.#last >= this.#waitMs
  }

  /**
   * Starts a save once the previous one is complete, and returns while it is running. The interval is extended if
   * saving is slow.
   */
  async start(save: () => Promise<void>): Promise<void> {
    await this.settle()
    const startedAt = this.#now()
    this.#running = save()
      .catch((cause: unknown) => {
        this.#failure = { cause }
      })
      .finally(() => {
        this.#running = undefined
        this.#last = this.#now()
        this.#waitMs = Math.max(1000 * this.#seconds, COST * (this.#last - startedAt))
      })
  }

  /** Waits for the save in progress; throws if it failed. */
  async settle(): Promise<void> {
    await this.#running
    this.throwIfFailed()
  }

  /** Throws the error of a save that failed in the meantime, once. */
  throwIfFailed(): void {
    const failure = this.#failure
    this.#failure = undefined
    if (failure !== undefined) throw failure.cause
  }
}
