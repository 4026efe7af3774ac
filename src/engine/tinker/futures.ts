import { setTimeout as sleep } from 'node:timers/promises'
import type { Wire } from './wire.ts'
import { statusOf } from './wire-failure.ts'

export interface FutureOptions {
  signal?: AbortSignal | undefined
  /** See `WireRequest`. */
  repeatable?: boolean
  bytes?: { type: string; data: Uint8Array }
  accept?: string
}

/** A question that the server answers later: the number it gave, or what it said at once. */
interface Promised {
  request_id?: string
}

export interface Submitted<T> {
  requestId: string | undefined
  answer: Promise<T>
}

/** One question to the server is left open for so long; then it is asked again. */
const POLL_MS = 45_000
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [50, 1000]
/** A server that has lost an answer is given the request again so often. */
const REDONE = 2

/** Puts a request and waits for its answer, however long that takes. */
export class Futures {
  readonly #wire: Wire
  readonly #pollMs: number

  constructor(wire: Wire, pollMs = POLL_MS) {
    this.#wire = wire
    this.#pollMs = pollMs
  }

  /** The first promise resolves when the server has taken the request, and holds the one for the answer. */
  async submit<T>(path: string, body: unknown, options: FutureOptions = {}): Promise<Submitted<T>> {
    const first = await this.#put<T>(path, body, options)
    const answer = this.#follow<T>(path, body, options, first)
    // Whoever awaits it hears of a failure; until then it must not pass for one that nobody awaits.
    answer.catch(() => undefined)
    return { requestId: first.request_id, answer }
  }

  async call<T>(path: string, body: unknown, options: FutureOptions = {}): Promise<T> {
    return (await this.submit<T>(path, body, options)).answer
  }

  #put<T>(path: string, body: unknown, { signal, repeatable = true, bytes }: FutureOptions) {
    return this.#wire.json<Promised & T>(path, {
      ...(bytes === undefined ? { body } : { bytes, method: 'POST' as const }),
      repeatable,
      signal,
    })
  }

  async #follow<T>(path: string, body: unknown, options: FutureOptions, first: Promised & T): Promise<T> {
    let promised = first
    for (let redone = 0; ; redone++) {
      if (promised.request_id === undefined) return promised
      try {
        return await this.#wait<T>(promised.request_id, options)
      } catch (cause) {
        if (statusOf(cause) !== 410 || redone >= REDONE || options.repeatable === false) throw cause
        promised = await this.#put<T>(path, body, options)
      }
    }
  }

  async #wait<T>(requestId: string, { signal, accept }: FutureOptions): Promise<T> {
    let pause = FIRST_PAUSE_MS
    for (;;) {
      signal?.throwIfAborted()
      const started = performance.now()
      try {
        return await this.#wire.json<T>('/retrieve_future', {
          body: { request_id: requestId },
          signal,
          timeoutMs: this.#pollMs,
          mayBeEarly: true,
          ...(accept === undefined ? {} : { accept }),
        })
      } catch (cause) {
        // A poll that was simply left open for its whole time says nothing against the server.
        if (statusOf(cause) === 408) {
          // One that answers "not yet" at once is not asked a thousand times a second.
          if (performance.now() - started < pause) await sleep(pause)
          pause = Math.min(LONGEST_PAUSE_MS, pause * 1.5)
          continue
        }
        const timedOut = (cause as { details?: { reason?: string } }).details?.reason === 'timeout'
        if (!timedOut || performance.now() - started < this.#pollMs) throw cause
      }
    }
  }
}
