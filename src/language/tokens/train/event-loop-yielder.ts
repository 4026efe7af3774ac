import { setImmediate } from 'node:timers/promises'

/**
 * Lets the event loop run several times a second during long work, so that timers, progress and Ctrl-C work, and
 * stops when the signal is aborted.
 */
export class EventLoopYielder {
  #last = performance.now()
  readonly #signal: AbortSignal | undefined

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal
    signal?.throwIfAborted()
  }

  /** True if it is time to yield. Checked often, so that most iterations need no await. */
  get due(): boolean {
    return performance.now() - this.#last > 50
  }

  async yieldNow(): Promise<void> {
    await setImmediate()
    this.#signal?.throwIfAborted()
    this.#last = performance.now()
  }
}
