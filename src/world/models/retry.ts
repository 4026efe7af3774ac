import { limiter } from '../../base/concurrency/index.ts'
import { ModelError } from '../../base/errors/index.ts'
import { backOff, pause } from '../../base/retry/index.ts'
import type { RetryPolicy } from './contract.ts'
import { modelError, retryAfterOf } from './failure.ts'

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000
/** A server that asks for a longer delay is unavailable, not just busy. */
const LONGEST_RETRY_AFTER_MS = 120_000

export type Attempt<T> = (signal: AbortSignal, attempt: number) => Promise<T>

/** Runs requests to one endpoint with a concurrency limit, a timeout per attempt, and retries of transient failures. */
export function createRequestRunner(
  what: { model: string; baseUrl?: string; hasKey: boolean },
  { timeoutMs = 120_000, retries = 4, concurrency = 8 }: RetryPolicy,
): <T>(attempt: Attempt<T>, signal?: AbortSignal) => Promise<T> {
  const limited = limiter(concurrency)

  async function attemptOnce<T>(attempt: Attempt<T>, number: number, outer?: AbortSignal): Promise<T> {
    const limit = AbortSignal.timeout(timeoutMs)
    try {
      return await attempt(outer === undefined ? limit : AbortSignal.any([limit, outer]), number)
    } catch (error) {
      outer?.throwIfAborted()
      if (error instanceof ModelError) throw error
      throw limit.aborted
        ? new ModelError(`${what.model} did not respond within ${timeoutMs / 1000} s`, {
            cause: error,
            transient: true,
            fix: 'Raise the timeout, request fewer tokens, or check whether the server is overloaded.',
          })
        : modelError(error, what)
    }
  }

  async function withRetries<T>(attempt: Attempt<T>, signal?: AbortSignal): Promise<T> {
    for (let number = 0; ; number++) {
      try {
        return await attemptOnce(attempt, number, signal)
      } catch (error) {
        if (!(error instanceof ModelError) || !error.transient || number >= retries) throw error
        const asked = retryAfterOf(error.cause)
        if (asked !== undefined && asked > LONGEST_RETRY_AFTER_MS) throw error
        await pause(Math.max(asked ?? 0, backOff(number, FIRST_PAUSE_MS, LONGEST_PAUSE_MS)), signal)
      }
    }
  }

  // The concurrency slot is held during backoff: letting other requests in would not help a busy server.
  return (attempt, signal) => limited(() => withRetries(attempt, signal), signal)
}
