import { ApiError } from './api-error.ts'
import type { Chain } from './chain.ts'

/** Chains that wait for the client's tool results, by the id of the call. */
export class HeldChains<Held extends { chain: Chain }> {
  readonly #held = new Map<string, { held: Held; timer: NodeJS.Timeout }>()
  readonly #limit: number
  readonly #ms: number

  constructor(limit: number, seconds: number) {
    this.#limit = limit
    this.#ms = Math.min(seconds * 1000, 2 ** 31 - 1)
  }

  get size(): number {
    return this.#held.size
  }

  hold(call: string, held: Held): void {
    const [oldest] = this.#held.keys()
    if (this.#held.size >= this.#limit && oldest !== undefined) this.#drop(oldest)
    const timer = setTimeout(() => this.#drop(call), this.#ms)
    timer.unref()
    this.#held.set(call, { held, timer })
  }

  has(call: string): boolean {
    return this.#held.has(call)
  }

  take(call: string): Held {
    const entry = this.#held.get(call)
    if (entry === undefined)
      throw new ApiError(
        400,
        `there is no chain that waits for the result of the tool call ${JSON.stringify(call)}: it was answered already, or it waited too long; ask the question again`,
        { code: 'tool_call_expired' },
      )
    clearTimeout(entry.timer)
    this.#held.delete(call)
    return entry.held
  }

  close(): void {
    for (const call of [...this.#held.keys()]) this.#drop(call)
  }

  #drop(call: string): void {
    this.take(call).chain.stop(new Error('the client did not send the result of its tool call in time'))
  }
}
