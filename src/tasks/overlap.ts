import { UsageError } from '../base/errors/index.ts'
import { questionKey } from './question-key.ts'

interface Known {
  id: string
  question: string
}

/** The held-out tasks whose id or question is also in the training set. */
export function overlapOf<T extends Known>(training: Iterable<Known>, heldOut: readonly T[]): T[] {
  const ids = new Set<string>()
  const questions = new Set<string>()
  for (const { id, question } of training) {
    ids.add(id)
    questions.add(questionKey(question))
  }
  return heldOut.filter(({ id, question }) => ids.has(id) || questions.has(questionKey(question)))
}

/** Throws if a held-out task was trained on: results on it would be meaningless. */
export function refuseOverlap(training: Iterable<Known>, heldOut: readonly Known[], fix?: string): void {
  const shared = overlapOf(training, heldOut)
  if (shared.length === 0) return
  const some = shared.slice(0, 3).map(({ id }) => id)
  throw new UsageError(
    `${shared.length} of the ${heldOut.length} held-out tasks ${shared.length === 1 ? 'is' : 'are'} trained on too: ${some.join(', ')}${shared.length > some.length ? ', …' : ''}`,
    {
      fix:
        fix ??
        'Put every question in only one split: remove duplicate rows, or correct the "split" column or the split of a source in [tasks].',
    },
  )
}
