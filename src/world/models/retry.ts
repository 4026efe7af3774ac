import { limiter } from '../../base/concurrency/index.ts'
import { ModelError } from '../../base/errors/index.ts'
import { backOff, pause } from '../../base/retry/index.ts'
import type { Patience } from './contract.ts'
import { askedPauseMs, modelError } from './failure.ts'

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
        const asked = askedPauseMs(error.cause)
        if (asked !== undefined && asked > LONGEST_RETRY_AFTER_MS) throw error
        await pause(Math.max(asked ?? 0, backOff(number, FIRST_PAUSE_MS, LONGEST_PAUSE_MS)), signal)
      }
    }
  }

  // A place is held through the pauses too: a busy server is not helped by others taking the turn.
  return (attempt, signal) => limited(() => persist(attempt, signal), signal)
}
