import { z } from 'zod'
import { sha256 } from '../../base/digests/index.ts'
import { fractionOf } from '../../base/random/index.ts'
import { readObject } from '../models/structured.ts'
import { asker, type JudgeOptions } from './ask.ts'
import { GroupReply, groupPrompt } from './group-prompt.ts'

/** Part of the cache key: change it whenever a change to the prompt could change a score. */
const VERSION = 'group-1'
/** A reason is read by people, and a group's judgement is one line of the cache. */
const LONGEST_REASON = 200

/** Attempts at one task, each as text. */
interface GroupCase {
  question: string
  attempts: readonly string[]
}

interface AttemptScore {
  /** From 0 to 1, relative to the other attempts. */
  score: number
  reason: string
}

/** The scores of the attempts, in the order in which they were given. */
export type GroupJudge = (
  judged: GroupCase,
  signal?: AbortSignal,
) => Promise<{ scores: AttemptScore[] } | { failure: string }>

/** As cached: of the distinct attempts, in the order in which the prompt shows them. */
export const GroupScores = z.object({
  reason: z.string(),
  scores: z.array(z.object({ score: z.number().min(0).max(1), reason: z.string() })),
})
export type GroupScores = z.infer<typeof GroupScores>

/**
 * A judge that compares the attempts at one task with each other, in one request, for tasks without a gold answer. Equal
 * attempts are shown once and get the same score. The order in which they are shown depends only on the seed and the
 * texts, so it favors nobody and a judgement can be cached.
 */
export function createGroupJudge({
  seed,
  ...options
}: JudgeOptions<GroupScores> & { seed: number }): GroupJudge {
  const ask = asker<GroupCase, GroupScores>(
    {
      key: ({ question, attempts }, model = '') =>
        sha256(JSON.stringify([VERSION, model, question, attempts])),
      prompt: ({ question, attempts }) => groupPrompt(question, attempts),
      read: readScores,
    },
    // A whole group takes a model longer than one answer.
    { totalMs: 300_000, ...options },
  )
  return async ({ question, attempts }, signal) => {
    if (attempts.length === 0) return { scores: [] }
    const shown = shuffled(new Set(attempts), seed)
    const judgement = await ask({ question, attempts: shown }, signal)
    if ('failure' in judgement) return judgement
    return { scores: attempts.map((attempt) => judgement.scores[shown.indexOf(attempt)]!) }
  }
}

function shuffled(attempts: Iterable<string>, seed: number): string[] {
  return [...attempts]
    .map((text) => ({ text, at: fractionOf('group judge', seed, sha256(text)) }))
    .sort((one, other) => one.at - other.at)
    .map(({ text }) => text)
}

/** A reply must score every attempt once. */
function readScores(text: string, judged: GroupCase): GroupScores | undefined {
  try {
    const { attempts } = readObject(text, GroupReply)
    if (attempts.length !== judged.attempts.length) return undefined
    const ordered = attempts.toSorted((one, other) => one.attempt - other.attempt)
    if (ordered.some(({ attempt }, at) => attempt !== at + 1)) return undefined
    const scores = ordered.map(({ score, reason }) => ({ score, reason: reason.slice(0, LONGEST_REASON) }))
    return { reason: '', scores }
  } catch {
    return undefined
  }
}
