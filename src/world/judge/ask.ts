import { limiter } from '../../base/concurrency/index.ts'
import { ModelError } from '../../base/errors/index.ts'
import { backOff, pause } from '../../base/retry/index.ts'
import { type JudgeCache, memoryJudgeCache } from './cache.ts'
import type { JudgePrompt } from './prompt.ts'
import type { JudgeReply } from './reply.ts'

/** A model that completes a prompt; see `promptFunction` in src/world/models. */
export type JudgeModel = (prompt: JudgePrompt, signal: AbortSignal) => Promise<string>

export interface JudgeOptions<Reply = JudgeReply> {
  model: JudgeModel
  /** Part of the cache key, so that judgements by different models are kept apart. */
  modelName?: string
  cache?: JudgeCache<Reply>
  /** Maximum number of concurrent calls to the model. */
  concurrency?: number
  /** Total time for all attempts at one answer, not counting time in the queue. */
  totalMs?: number
  attempts?: number
  /** Delay before the second attempt; it doubles after each further one. */
  backOffMs?: number
}

/** What is judged, and how a reply is read. */
export interface Subject<Case, Reply> {
  key: (judged: Case, modelName: string | undefined) => string
  prompt: (judged: Case) => JudgePrompt
  /** Undefined if the reply is unusable; then the model is asked again. */
  read: (text: string, judged: Case) => Reply | undefined
}

export type Judgement<Reply> = Reply | { failure: string }

/** Asks a model for a judgement: caches, retries, limits concurrent calls, and never throws. */
export function asker<Case, Reply extends object>(
  subject: Subject<Case, Reply>,
  options: JudgeOptions<Reply>,
): (judged: Case, signal?: AbortSignal) => Promise<Judgement<Reply>> {
  const { model, totalMs = 60_000, attempts = 4, backOffMs = 500 } = options
  const cache = options.cache ?? memoryJudgeCache<Reply>()
  const limited = limiter(options.concurrency ?? 8)
  const inFlight = new Map<string, Promise<Judgement<Reply>>>()

  async function ask(judged: Case, signal: AbortSignal): Promise<Judgement<Reply>> {
    let failure = 'the judge was not called'
    for (let attempt = 0; attempt < attempts && !signal.aborted; attempt++) {
      if (attempt > 0) await pause(backOff(attempt - 1, backOffMs, totalMs), signal).catch(() => undefined)
      if (signal.aborted) break
      try {
        // A new prompt has a new random boundary, and may get a usable reply where the last one did not.
        const text = await untilAborted(model(subject.prompt(judged), signal), signal)
        const reply = subject.read(text, judged)
        if (reply !== undefined) return reply
        failure = `the judge's reply has no verdict: ${JSON.stringify(text.slice(0, 120))}`
      } catch (error) {
        failure = `the judge failed: ${error instanceof Error ? error.message : String(error)}`
        // Whoever throws this has already repeated what could be repeated.
        if (error instanceof ModelError) break
      }
    }
    return { failure: signal.aborted ? `${failure}; it ran out of time` : failure }
  }

  async function askUncached(
    judged: Case,
    key: string,
    outer: AbortSignal | undefined,
  ): Promise<Judgement<Reply>> {
    const known = await ignoreErrors(() => cache.get(key))
    if (known !== undefined) return known
    return limited(async () => {
      const budget = AbortSignal.timeout(totalMs)
      const result = await ask(judged, outer === undefined ? budget : AbortSignal.any([budget, outer]))
      if (!('failure' in result)) await ignoreErrors(() => cache.set(key, result))
      return result
    })
  }

  return async (judged, signal) => {
    const key = subject.key(judged, options.modelName)
    // Concurrent requests for the same judgement share one call, unless one of them can be aborted.
    const shared = signal === undefined ? inFlight.get(key) : undefined
    if (shared !== undefined) return shared
    const judgement = askUncached(judged, key, signal)
    if (signal === undefined) {
      inFlight.set(key, judgement)
      void judgement.finally(() => inFlight.delete(key))
    }
    return judgement
  }
}

/** A caller-supplied cache that fails costs an extra call, not the check. */
async function ignoreErrors<T>(task: () => Promise<T>): Promise<T | undefined> {
  try {
    return await task()
  } catch {
    return undefined
  }
}

/** A model that ignores its signal must not block the check. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new Error('timed out'))
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
