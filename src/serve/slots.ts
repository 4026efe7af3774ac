import { ApiError } from './api-error.ts'

interface Waiting {
  begin: () => void
}

/** Limits how many chains run at once and how many wait. Waiting ones begin in the order in which they came. */
export class Slots {
  readonly #limit: number
  readonly #queue: number
  readonly #waiting = new Set<Waiting>()
  #running = 0

  constructor(limit: number, queue: number) {
    this.#limit = limit
    this.#queue = queue
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Throws if there is no room for so many more chains, running or waiting. */
  assertRoom(count: number): void {
    const free = this.#limit - this.#running + this.#queue - this.#waiting.size
    if (count <= free) return
    throw new ApiError(
      429,
      `the server is busy: ${this.#running} chains run and ${this.#waiting.size} wait`,
      {
        code: 'server_busy',
        headers: { 'retry-after': '1' },
      },
    )
  }

  /** Runs the work when a slot is free. One that is aborted while it waits never begins. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#enter(signal)
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  async #enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#running < this.#limit) {
      this.#running++
      return
    }
    await new Promise<void>((resolve, reject) => {
      const stop = (): void => {
        this.#waiting.delete(waiting)
        reject(signal.reason)
      }
      // The slot passes from the one that leaves to this one, so the count does not change.
      const waiting = {
        begin: () => {
          signal.removeEventListener('abort', stop)
          resolve()
        },
      }
      signal.addEventListener('abort', stop, { once: true })
      this.#waiting.add(waiting)
    })
  }

  #leave(): void {
    const [next] = this.#waiting
    if (next === undefined) this.#running--
    else {
      this.#waiting.delete(next)
      next.begin()
    }
  }
}
