import { enteredTokens } from '../agent/index.ts'
import { Interrupted } from '../base/errors/index.ts'
import { type ChainModel, type QuestionOptions, solveInto } from '../pipeline/solve/index.ts'
import { exitCodes } from './exit-codes.ts'
import { interruptible } from './interrupt.ts'
import { jsonText } from './output.ts'

/** Answers a question and prints what is new in its chain, one JSON object per line; the last one says how it ended. */
export async function solveWithEvents(
  model: ChainModel,
  question: string,
  options: QuestionOptions,
): Promise<void> {
  const print = (event: object): void => {
    process.stdout.write(`${jsonText(event)}\n`)
  }
  try {
    await interruptible(async (signal) => {
      const { answer, rollouts, pick, seconds } = await solveInto(
        model,
        question,
        { ...options, signal },
        print,
      )
      const { stop } = rollouts[pick?.chosen ?? 0]!
      const tokens = rollouts.reduce((sum, rollout) => {
        const { prompt, sampled, inserted } = enteredTokens(rollout)
        return sum + prompt + sampled + inserted
      }, 0)
      print({ type: 'done', answer, stop, tokens, seconds })
      if (answer === undefined) process.exitCode = exitCodes.findings.code
    }, '')
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error
    process.exitCode = exitCodes.interrupted.code
  } finally {
    await model.close()
  }
}
