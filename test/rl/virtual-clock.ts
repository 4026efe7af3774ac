/** Time that passes only when nothing else is left to do, so that any timing can be tested quickly. */
export class VirtualClock {
  #now = 0
  #sleepers: { at: number; wake: () => void }[] = []

  get now(): number {
    return this.#now
  }

  sleep(duration: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const sleeper = { at: this.#now + duration, wake: resolve }
      this.#sleepers.push(sleeper)
      signal?.addEventListener('abort', () => {
        this.#sleepers = this.#sleepers.filter((each) => each !== sleeper)
        reject(signal.reason)
      })
    })
  }

  /** Runs until the promise is settled. Fails if nothing can happen any more: a deadlock. */
  async until<T>(work: Promise<T>): Promise<T> {
    let isSettled = false
    const done = () => {
      isSettled = true
    }
    work.then(done, done)
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve))
      if (isSettled) return work
      const next = this.#sleepers.toSorted((one, other) => one.at - other.at)[0]
      if (next === undefined) throw new Error('deadlock: nothing is running, and nothing has ended')
      this.#sleepers = this.#sleepers.filter((each) => each !== next)
      this.#now = next.at
      next.wake()
    }
  }
}
