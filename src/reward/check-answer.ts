import type { Gold, Verdict } from '../schema/index.ts'
import { createJudge, type Judge, type JudgeModel } from '../world/judge/index.ts'
import { type CodeOptions, checkCode } from './code/check.ts'
import type { CodeSandbox } from './code/code-sandbox.ts'
import { checkMath } from './math/check.ts'
import { checkText } from './text/check.ts'
import { verdict } from './verdict.ts'

export interface CheckContext {
  /** The question: the judge needs it, and the math checker looks for "percent" in it. */
  question?: string
  /** Runs programs. Without one, code answers are undecided. */
  sandbox?: CodeSandbox
  /** A judge from createJudge, or a bare model. Without one, answers that need a judge are undecided. */
  judge?: Judge | JudgeModel
  code?: CodeOptions
  signal?: AbortSignal
}

/**
 * Checks an answer against the gold answer. A missing or unreadable answer is wrong; a check that could not be carried out is
 * undecided. Never throws, whatever the answer contains.
 *
 * @example
 * import { checkAnswer } from 'chain-of-agents'
 *
 * const { outcome, evidence } = await checkAnswer({ checker: 'math', answer: '3/4' }, 'The answer is 75%.')
 * console.log(outcome, evidence)
 */
export async function checkAnswer(
  gold: Gold,
  answer: string | undefined,
  context: CheckContext = {},
): Promise<Verdict> {
  if (answer === undefined || answer.trim() === '')
    return verdict('wrong', gold.checker, 'there is no answer', 0)
  if (context.signal?.aborted === true) return verdict('undecided', gold.checker, 'the check was aborted')
  try {
    switch (gold.checker) {
      case 'math':
        return await checkMath(gold, answer, { question: context.question })
      case 'exact':
        return checkText(gold.answers, answer)
      case 'code':
        return await checkCode(gold, answer, context.sandbox, { ...context.code, signal: context.signal })
      case 'judge':
        return await checkWithJudge(gold.answer, answer, context)
      case 'none':
        return verdict('undecided', 'none', 'there is no gold answer')
    }
  } catch (error) {
    // No checker is known to throw; if one does, that is our bug, not the answer's fault.
    const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    return verdict('undecided', gold.checker, `the check failed: ${reason.slice(0, 300)}`)
  }
}

/** Judges created for bare models, so that their cache and concurrency limit are shared by many checks. */
const judges = new WeakMap<JudgeModel, Judge>()

function judgeFor(judge: Judge | JudgeModel): Judge {
  if (typeof judge !== 'function') return judge
  const known = judges.get(judge) ?? createJudge({ model: judge })
  judges.set(judge, known)
  return known
}

/** Lets a model compare the answer with the reference. Without a judge, or if it fails: undecided, never wrong. */
async function checkWithJudge(reference: string, answer: string, context: CheckContext): Promise<Verdict> {
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
