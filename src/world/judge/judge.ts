import { limiter } from '../../base/concurrency/index.ts'
import { backOff, pause } from '../../base/retry/index.ts'
import { type JudgeCache, judgeKey, memoryJudgeCache } from './cache.ts'
import { type JudgeCase, type JudgePrompt, judgePrompt } from './prompt.ts'
import { type JudgeReply, readReply } from './reply.ts'

/** A model that completes a prompt; the client of src/world/models is wrapped to fit. */
export type JudgeModel = (prompt: JudgePrompt, signal: AbortSignal) => Promise<string>

export interface JudgeOptions {
  model: JudgeModel
  /** Part of the cache key, so that judgements of different models do not mix. */
  modelName?: string
  cache?: JudgeCache
  /** Calls to the model at the same time. */
  concurrency?: number
  /** For all attempts at one answer together, waiting for a free place not counted. */
  totalMs?: number
  attempts?: number
  /** The wait before the second attempt; it doubles after each further one. */
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
    let failure = 'the judge was not asked'
    for (let attempt = 0; attempt < attempts && !signal.aborted; attempt++) {
      if (attempt > 0) await pause(backOff(attempt - 1, backOffMs, totalMs), signal).catch(() => undefined)
      if (signal.aborted) break
      try {
        // A fresh prompt has a fresh boundary, and may get a usable reply where the last did not.
        const text = await untilAborted(model(judgePrompt(judgeCase), signal), signal)
        const reply = readReply(text)
        if (reply !== undefined) return reply
        failure = `the judge's reply has no verdict: ${JSON.stringify(text.slice(0, 120))}`
      } catch (error) {
        failure = `the judge failed: ${error instanceof Error ? error.message : String(error)}`
      }
    }
    return { failure: signal.aborted ? `${failure}; the time for it is over` : failure }
  }

  async function judgeAnew(
    judgeCase: JudgeCase,
    key: string,
    outer: AbortSignal | undefined,
  ): Promise<Judgement> {
    const known = await quietly(() => cache.get(key))
    if (known !== undefined) return known
    return limited(async () => {
      const budget = AbortSignal.timeout(totalMs)
      const result = await ask(judgeCase, outer === undefined ? budget : AbortSignal.any([budget, outer]))
      if (!('failure' in result)) await quietly(() => cache.set(key, result))
      return result
    })
  }

  return {
    async judge(judgeCase, signal) {
      const key = judgeKey(judgeCase, options.modelName)
      // The same answer from two rollouts at once is one call, unless one of them may be called off.
      const shared = signal === undefined ? inFlight.get(key) : undefined
      if (shared !== undefined) return shared
      const judgement = judgeAnew(judgeCase, key, signal)
      if (signal === undefined) {
        inFlight.set(key, judgement)
        void judgement.finally(() => inFlight.delete(key))
      }
      return judgement
    },
  }
}

/** A cache of the caller's own that fails costs a call, not the check. */
async function quietly<T>(task: () => Promise<T>): Promise<T | undefined> {
  try {
    return await task()
  } catch {
    return undefined
  }
}

/** A model that ignores its signal must not hold up the check. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new Error('it took too long'))
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
