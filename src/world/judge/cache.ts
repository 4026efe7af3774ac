import { sha256 } from '../../base/digests/index.ts'
import type { JudgeCase } from './prompt.ts'
import { judgePromptVersion } from './prompt.ts'
import type { JudgeReply } from './reply.ts'

/** Caches judgements. A failed read or write must not fail a check, so neither method may throw. */
export interface JudgeCache<Reply = JudgeReply> {
  get(key: string): Promise<Reply | undefined>
  set(key: string, reply: Reply): Promise<void>
}

/** A question, reference and answer are judged once per prompt version and model. */
export function judgeKey({ question, reference, answer }: JudgeCase, model = ''): string {
  return sha256(JSON.stringify([judgePromptVersion, model, question, reference, answer]))
}

/** In memory; evicts the oldest entries first. */
export function memoryJudgeCache<Reply = JudgeReply>(limit = 100_000): JudgeCache<Reply> {
  const entries = new Map<string, Reply>()
  return {
    get: async (key) => entries.get(key),
    set: async (key, reply) => {
      if (entries.size >= limit) entries.delete(entries.keys().next().value!)
      entries.set(key, reply)
    },
  }
}
