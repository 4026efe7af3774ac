import { setImmediate } from 'node:timers/promises'

/**
 * Lets the event loop run a few times a second during long work, so that timers, progress and Ctrl-C get their
 * turn, and stops the work when the signal says so.
 */
export class Breather {
  #last = performance.now()
  readonly #signal: AbortSignal | undefined

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal
    signal?.throwIfAborted()
  }

  /** True when it is time for `breathe`: asked often, so that nothing has to be awaited most of the time. */
  get due(): boolean {
    return performance.now() - this.#last > 50
  }

  async breathe(): Promise<void> {
    await setImmediate()
    this.#signal?.throwIfAborted()
    this.#last = performance.now()
  }
}
