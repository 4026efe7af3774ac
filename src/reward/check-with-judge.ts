import type { Verdict } from '../schema/index.ts'
import { createJudge, type Judge, type JudgeModel } from '../world/judge/index.ts'
import { verdict } from './verdict.ts'

/** Judges made for bare models, so that their memory and their limit hold over many checks. */
const judges = new WeakMap<JudgeModel, Judge>()

function judgeFor(judge: Judge | JudgeModel): Judge {
  if (typeof judge !== 'function') return judge
  const known = judges.get(judge) ?? createJudge({ model: judge })
  judges.set(judge, known)
  return known
}

/** A model's comparison with the reference. No judge, or none that answers: undecided, never wrong. */
export async function checkWithJudge(
  reference: string,
  answer: string,
  context: {
    question?: string | undefined
    judge?: Judge | JudgeModel | undefined
    signal?: AbortSignal | undefined
  },
): Promise<Verdict> {
  if (context.judge === undefined) return verdict('undecided', 'judge', 'there is no judge to ask')
  const judge = judgeFor(context.judge)
  const judgement = await judge.judge({ question: context.question ?? '', reference, answer }, context.signal)
  if ('failure' in judgement) return verdict('undecided', 'judge', judgement.failure)
  return verdict(
    judgement.isCorrect ? 'correct' : 'wrong',
    'judge',
    judgement.reason || 'the judge gave no reason',
  )
}
