import { limiter } from '../../base/concurrency/index.ts'
import { backOff, pause } from '../../base/retry/index.ts'
import { type JudgeCache, judgeKey, memoryJudgeCache } from './cache.ts'
import { type JudgeCase, type JudgePrompt, judgePrompt } from './prompt.ts'
import { type JudgeReply, readReply } from './reply.ts'

/** A model that completes a prompt; see `promptFunction` in src/world/models. */
export type JudgeModel = (prompt: JudgePrompt, signal: AbortSignal) => Promise<string>

export interface JudgeOptions {
  model: JudgeModel
  /** Part of the cache key, so that judgements by different models are kept apart. */
  modelName?: string
  cache?: JudgeCache
  /** Maximum number of concurrent calls to the model. */
  concurrency?: number
  /** Total time for all attempts at one answer, not counting time in the queue. */
  totalMs?: number
  attempts?: number
  /** Delay before the second attempt; it doubles after each further one. */
  backOffMs?: number
}

type Judgement = JudgeReply | { failure: string }

export interface Judge {
  judge(judgeCase: JudgeCase, signal?: AbortSignal): Promise<Judgement>
}

/**
 * A judge that compares answers with a reference by asking a model. It caches, retries, limits concurrent calls, and never throws.
 *
 * @example
 * import { checkAnswer, createJudge, openModel, promptFunction } from 'chain-of-agents'
 *
 * const model = openModel({ baseUrl: 'http://localhost:8000/v1', model: 'judge' })
 * const judge = createJudge({ model: promptFunction(model), modelName: model.name })
 * const gold = { checker: 'judge', answer: 'the Chagres River' } as const
 * console.log(await checkAnswer(gold, 'Chagres', { judge, question: 'Which river was dammed?' }))
 */
export function createJudge(options: JudgeOptions): Judge {
  const { model, cache = memoryJudgeCache(), totalMs = 60_000, attempts = 4, backOffMs = 500 } = options
  const limited = limiter(options.concurrency ?? 8)
  const inFlight = new Map<string, Promise<Judgement>>()

  async function ask(judgeCase: JudgeCase, signal: AbortSignal): Promise<Judgement> {
    let failure = 'the judge was not called'
    for (let attempt = 0; attempt < attempts && !signal.aborted; attempt++) {
      if (attempt > 0) await pause(backOff(attempt - 1, backOffMs, totalMs), signal).catch(() => undefined)
      if (signal.aborted) break
      try {
        // A new prompt has a new random boundary, and may get a usable reply where the last one did not.
        const text = await untilAborted(model(judgePrompt(judgeCase), signal), signal)
        const reply = readReply(text)
        if (reply !== undefined) return reply
        failure = `the judge's reply has no verdict: ${JSON.stringify(text.slice(0, 120))}`
      } catch (error) {
        failure = `the judge failed: ${error instanceof Error ? error.message : String(error)}`
      }
    }
    return { failure: signal.aborted ? `${failure}; it ran out of time` : failure }
  }

  async function judgeUncached(
    judgeCase: JudgeCase,
    key: string,
    outer: AbortSignal | undefined,
  ): Promise<Judgement> {
    const known = await ignoreErrors(() => cache.get(key))
    if (known !== undefined) return known
    return limited(async () => {
      const budget = AbortSignal.timeout(totalMs)
      const result = await ask(judgeCase, outer === undefined ? budget : AbortSignal.any([budget, outer]))
      if (!('failure' in result)) await ignoreErrors(() => cache.set(key, result))
      return result
    })
  }

  return {
    async judge(judgeCase, signal) {
      const key = judgeKey(judgeCase, options.modelName)
      // Concurrent requests for the same judgement share one call, unless one of them can be aborted.
      const shared = signal === undefined ? inFlight.get(key) : undefined
      if (shared !== undefined) return shared
      const judgement = judgeUncached(judgeCase, key, signal)
      if (signal === undefined) {
        inFlight.set(key, judgement)
        void judgement.finally(() => inFlight.delete(key))
      }
      return judgement
    },
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
