import type { Verdict } from '../schema/index.ts'
import { createJudge, type Judge, type JudgeModel } from '../world/judge/index.ts'
import { verdict } from './verdict.ts'

/** Judges created for bare models, so that their cache and concurrency limit are shared by many checks. */
const judges = new WeakMap<JudgeModel, Judge>()

function judgeFor(judge: Judge | JudgeModel): Judge {
  if (typeof judge !== 'function') return judge
  const known = judges.get(judge) ?? createJudge({ model: judge })
  judges.set(judge, known)
  return known
}

/** Lets a model compare the answer with the reference. Without a judge, or if it fails: undecided, never wrong. */
export async function checkWithJudge(
  reference: string,
  answer: string,
  context: {
    question?: string | undefined
    judge?: Judge | JudgeModel | undefined
    signal?: AbortSignal | undefined
  },
): Promise<Verdict> {
  if (context.judge === undefined) return verdict('undecided', 'judge', 'no judge is configured')
  const judge = judgeFor(context.judge)
  const judgement = await judge.judge({ question: context.question ?? '', reference, answer }, context.signal)
  if ('failure' in judgement) return verdict('undecided', 'judge', judgement.failure)
  return verdict(
    judgement.isCorrect ? 'correct' : 'wrong',
    'judge',
    judgement.reason || 'the judge gave no reason',
  )
}
