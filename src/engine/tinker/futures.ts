import { setTimeout as sleep } from 'node:timers/promises'
import type { Wire } from './wire.ts'
import { statusOf } from './wire-errors.ts'

export interface FutureOptions {
  signal?: AbortSignal | undefined
  /** See `WireRequest`. */
  repeatable?: boolean
  bytes?: { type: string; data: Uint8Array }
  accept?: string
}

/** A request that is answered later: its id, or the immediate response. */
interface Pending {
  request_id?: string
}

export interface Submitted<T> {
  requestId: string | undefined
  answer: Promise<T>
}

/** Duration of one long poll. */
const POLL_MS = 45_000
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [50, 1000]
/** How often a request is resubmitted if the server lost its result. */
const MAX_RESUBMISSIONS = 2

/** Submits requests and waits for their results, however long that takes. */
export class Futures {
  readonly #wire: Wire
  readonly #pollMs: number

  constructor(wire: Wire, pollMs = POLL_MS) {
    this.#wire = wire
    this.#pollMs = pollMs
  }

  /** Resolves when the server has accepted the request, with a promise for the result. */
  async submit<T>(path: string, body: unknown, options: FutureOptions = {}): Promise<Submitted<T>> {
    const first = await this.#put<T>(path, body, options)
    const answer = this.#follow<T>(path, body, options, first)
    // Awaited by the caller; until then a failure must not count as an unhandled rejection.
    answer.catch(() => undefined)
    return { requestId: first.request_id, answer }
  }

  async call<T>(path: string, body: unknown, options: FutureOptions = {}): Promise<T> {
    return (await this.submit<T>(path, body, options)).answer
  }

  #put<T>(path: string, body: unknown, { signal, repeatable = true, bytes }: FutureOptions) {
    return this.#wire.json<Pending & T>(path, {
      ...(bytes === undefined ? { body } : { bytes, method: 'POST' as const }),
      repeatable,
      signal,
    })
  }

  async #follow<T>(path: string, body: unknown, options: FutureOptions, first: Pending & T): Promise<T> {
    let pending = first
    for (let resubmissions = 0; ; resubmissions++) {
      if (pending.request_id === undefined) return pending
      try {
        return await this.#wait<T>(pending.request_id, options)
      } catch (cause) {
        if (statusOf(cause) !== 410 || resubmissions >= MAX_RESUBMISSIONS || options.repeatable === false)
          throw cause
        pending = await this.#put<T>(path, body, options)
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
        // A poll that timed out does not mean that the server is failing.
        if (statusOf(cause) === 408) {
          // Do not hammer a server that returns "not yet" immediately.
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
