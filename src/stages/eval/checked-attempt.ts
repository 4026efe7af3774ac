import type { World } from '../../agent/index.ts'
import { checkAnswer } from '../../reward/index.ts'
import type { Task } from '../../schema/index.ts'
import type { Attempt } from './contract.ts'

/** An attempt whose answer has been checked. The time is that of the work, not of the check. */
export async function checkedAttempt(
  task: Task,
  answer: string | undefined,
  world: World,
  signal: AbortSignal,
  rest: Omit<Attempt, 'answer' | 'verdict'>,
): Promise<Attempt> {
  const verdict = await checkAnswer(task.gold, answer, { ...world.check, question: task.question, signal })
  return { ...(answer === undefined ? {} : { answer }), verdict, ...rest }
}
