import { UsageError } from '../base/errors/index.ts'
import type { Task } from '../schema/index.ts'
import { questionKey } from './question-key.ts'

type Known = Pick<Task, 'id' | 'question'>

/** Those of the held-out tasks that training has seen: under the same id, or with the same question. */
export function overlapOf<T extends Known>(training: Iterable<Known>, heldOut: readonly T[]): T[] {
  const ids = new Set<string>()
  const questions = new Set<string>()
  for (const { id, question } of training) {
    ids.add(id)
    questions.add(questionKey(question))
  }
  return heldOut.filter(({ id, question }) => ids.has(id) || questions.has(questionKey(question)))
}

/** A result on tasks that were trained on says nothing, so there is none. */
export function refuseOverlap(training: Iterable<Known>, heldOut: readonly Known[], fix?: string): void {
  const shared = overlapOf(training, heldOut)
  if (shared.length === 0) return
  const some = shared.slice(0, 3).map(({ id }) => id)
  throw new UsageError(
    `${shared.length} of the ${heldOut.length} held-out tasks ${shared.length === 1 ? 'is' : 'are'} trained on too: ${some.join(', ')}${shared.length > some.length ? ', …' : ''}`,
    {
      fix:
        fix ??
        'Give every question one split: remove the repeated rows, or correct the "split" column or the split of a source in [tasks].',
    },
  )
}
