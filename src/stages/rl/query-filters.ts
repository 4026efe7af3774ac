import { WordBuffer, wordKey } from '../../base/digests/index.ts'
import { percent } from '../../base/text/index.ts'

/** Why a task is left out: a reason that many share and can be counted by, and what it was here. */
export interface Drop {
  reason: string
  detail: string
}

/** How a model fared on one question. Tries that could not be judged are not counted on either side. */
export interface Tries {
  correct: number
  wrong: number
}

/** A model without tools answers it too often: it knows the answer and has no need to look. */
export function solvedWithoutTools(tries: Tries | undefined, max: number): Drop | undefined {
  // Where nothing was judged, nothing speaks against the question.
  if (tries === undefined || shareOf(tries) <= max) return undefined
  return { reason: `solved without tools in more than ${percent(max)}`, detail: inWords(tries) }
}

/** The model solves it too seldom or too often to learn much from it. Both bounds belong to what is kept. */
export function outsideRange(
  tries: Tries | undefined,
  [low, high]: readonly [number, number],
): Drop | undefined {
  if (tries === undefined) return { reason: 'no try could be judged', detail: '' }
  const share = shareOf(tries)
  const detail = inWords(tries)
  if (share < low)
    return { reason: share === 0 ? 'never solved' : `solved in less than ${percent(low)}`, detail }
  if (share > high)
    return { reason: share === 1 ? 'always solved' : `solved in more than ${percent(high)}`, detail }
  return undefined
}

/** Tells questions that were trained on before, whatever their case and punctuation. */
export function trainedBefore(trained: Iterable<string>): (question: string) => Drop | undefined {
  const words = new WordBuffer()
  const known = new Set<string>()
  for (const question of trained) known.add(wordKey(question, words))
  return (question) =>
    known.has(wordKey(question, words)) ? { reason: 'trained on before', detail: '' } : undefined
}

const shareOf = ({ correct, wrong }: Tries): number => correct / (correct + wrong)
const inWords = ({ correct, wrong }: Tries): string => `${correct} of ${correct + wrong} tries`
