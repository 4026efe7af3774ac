import type { Gold, Verdict } from '../schema/index.ts'
import type { Judge, JudgeModel } from '../world/judge/index.ts'
import { checkWithJudge } from './check-with-judge.ts'
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
    }
  } catch (error) {
    // No checker is known to throw; if one does, that is our bug, not the answer's fault.
    const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    return verdict('undecided', gold.checker, `the check failed: ${reason.slice(0, 300)}`)
  }
}
