import { asker, type Judgement, type JudgeOptions } from './ask.ts'
import { judgeKey } from './cache.ts'
import { type JudgeCase, judgePrompt } from './prompt.ts'
import { type JudgeReply, readReply } from './reply.ts'

export interface Judge {
  judge(judgeCase: JudgeCase, signal?: AbortSignal): Promise<Judgement<JudgeReply>>
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
  return { judge: asker({ key: judgeKey, prompt: judgePrompt, read: readReply }, options) }
}
