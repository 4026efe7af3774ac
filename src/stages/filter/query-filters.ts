import { questionKey, WordBuffer } from './words.ts'

/** How a model fared on one question. Tries that could not be judged are not counted on either side. */
export interface PassRate {
  id: string
  correct: number
  wrong: number
}

export interface Question {
  id: string
  question: string
}

export interface Sifted<T> {
  kept: T[]
  dropped: (T & { reason: string })[]
}

/** Leaves out what a model without tools answers too often: it knows the answer and has no need to look. */
export function dropSolvedWithoutTools<T extends PassRate>(passRates: Iterable<T>, max = 0.3): Sifted<T> {
  return sift(passRates, (rate) =>
    shareOf(rate) > max ? `solved without tools in ${rate.correct} of ${triesOf(rate)} tries` : undefined,
  )
}

/** Leaves out what the model always or never solves: all rewards of a group are then the same and teach nothing. */
export function dropAlwaysOrNever<T extends PassRate>(passRates: Iterable<T>): Sifted<T> {
  return sift(passRates, (rate) => {
    if (triesOf(rate) === 0) return 'no try could be judged'
    if (rate.wrong === 0) return `always solved, in ${rate.correct} tries`
    return rate.correct === 0 ? `never solved, in ${rate.wrong} tries` : undefined
  })
}

/** Leaves out the questions for reinforcement that were trained on before, whatever their case and punctuation. */
export function disjoint<T extends Question>(
  sftQuestions: Iterable<Pick<Question, 'question'>>,
  rlQuestions: Iterable<T>,
): Sifted<T> {
  const words = new WordBuffer()
  const known = new Set<string>()
  for (const { question } of sftQuestions) known.add(questionKey(question, words))
  return sift(rlQuestions, ({ question }) =>
    known.has(questionKey(question, words)) ? 'the question was trained on' : undefined,
  )
}

function sift<T>(items: Iterable<T>, judge: (item: T) => string | undefined): Sifted<T> {
  const sifted: Sifted<T> = { kept: [], dropped: [] }
  for (const item of items) {
    const reason = judge(item)
    if (reason === undefined) sifted.kept.push(item)
    else sifted.dropped.push({ ...item, reason })
  }
  return sifted
}

const triesOf = ({ correct, wrong }: PassRate): number => correct + wrong
/** 0 where nothing was judged: nothing speaks against the question. */
const shareOf = (rate: PassRate): number => (triesOf(rate) === 0 ? 0 : rate.correct / triesOf(rate))
