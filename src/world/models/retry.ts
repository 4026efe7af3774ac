import { setTimeout as sleep } from 'node:timers/promises'
import { ModelError } from '../../base/errors/index.ts'
import type { Patience } from './contract.ts'
import { modelError, retryAfterMs } from './failure.ts'
import { limiter } from './limiter.ts'

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000
/** A server that asks for a longer rest is not busy but closed to us. */
const LONGEST_RETRY_AFTER_MS = 120_000

export type Attempt<T> = (signal: AbortSignal, attempt: number) => Promise<T>

/** Runs requests to one endpoint: so many at a time, each with its time limit, again where that may help. */
export function patiently(
  what: { model: string; baseUrl?: string; hasKey: boolean },
  { timeoutMs = 120_000, retries = 4, concurrency = 8 }: Patience,
): <T>(attempt: Attempt<T>, signal?: AbortSignal) => Promise<T> {
  const limited = limiter(concurrency)

  async function once<T>(attempt: Attempt<T>, number: number, outer?: AbortSignal): Promise<T> {
    const limit = AbortSignal.timeout(timeoutMs)
    try {
      return await attempt(outer === undefined ? limit : AbortSignal.any([limit, outer]), number)
    } catch (error) {
      outer?.throwIfAborted()
      if (error instanceof ModelError) throw error
      throw limit.aborted
        ? new ModelError(`${what.model} did not answer within ${timeoutMs / 1000} s`, {
            cause: error,
            passing: true,
            fix: 'Allow more time, ask for fewer tokens, or look whether the server is overloaded.',
          })
        : modelError(error, what)
    }
  }

  async function persist<T>(attempt: Attempt<T>, signal?: AbortSignal): Promise<T> {
    for (let number = 0; ; number++) {
      try {
        return await once(attempt, number, signal)
      } catch (error) {
        if (!(error instanceof ModelError) || !error.passing || number >= retries) throw error
        const asked = retryAfterMs(error.cause)
        if (asked !== undefined && asked > LONGEST_RETRY_AFTER_MS) throw error
        const own = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** number)
        // Spread by chance, so that many that failed together do not come back together.
        const pause = Math.max(asked ?? 0, own * (0.75 + Math.random() / 2))
        await sleep(pause, undefined, signal === undefined ? {} : { signal }).catch(() =>
          signal?.throwIfAborted(),
        )
      }
    }
  }

  // A place is held through the pauses too: a busy server is not helped by others taking the turn.
  return (attempt, signal) => limited(() => persist(attempt, signal), signal)
}
