import { type CheckContext, checkAnswer, finalAnswer, normalizeText } from '../../reward/index.ts'
import type { Gold, Verdict } from '../../schema/index.ts'

/** How much longer than the gold answer an answer may be to be compared with it word for word. */
const MOST_WORDS = 8

/**
 * Compares an answer with a gold answer. Agents often answer in whole sentences; that such a text is not equal to "Lima" does not
 * make it wrong. A judge decides, if there is one.
 */
export async function compare(
  gold: Gold,
  answer: string | undefined,
  context: CheckContext,
): Promise<Verdict> {
  const verdict = await checkAnswer(gold, answer, context)
  if (gold.checker !== 'exact' || verdict.outcome !== 'wrong' || !isText(answer ?? '', gold.answers))
    return verdict
  const decided = yesOrNo(answer ?? '', gold.answers)
  if (decided !== undefined) return decided
  if (context.judge !== undefined)
    return checkAnswer({ checker: 'judge', answer: gold.answers.join(' or ') }, answer, context)
  return {
    outcome: 'undecided',
    checker: 'exact',
    evidence:
      'the answer is a whole text; with --judge, a model decides whether it agrees with the gold answer',
  }
}

const YES_OR_NO = /^[\s"'*_]{0,8}(yes|no)[*_]{0,4}(?:[,.;:!—–]|$)/i

/** A text that begins with "Yes," or "No." has answered a question that yes or no answers; the rest explains it. */
function yesOrNo(answer: string, golds: readonly string[]): Verdict | undefined {
  const wanted = golds.map(normalizeText)
  const said = [finalAnswer(answer) ?? answer, answer].flatMap((text) => YES_OR_NO.exec(text)?.[1] ?? [])[0]
  if (said === undefined || !wanted.every((one) => one === 'yes' || one === 'no')) return undefined
  const isCorrect = wanted.some((one) => one === said.toLowerCase())
  return {
    outcome: isCorrect ? 'correct' : 'wrong',
    checker: 'exact',
    evidence: `the answer begins with “${said}”`,
    score: isCorrect ? 1 : 0,
  }
}

function isText(answer: string, golds: readonly string[]): boolean {
  const longest = Math.max(...golds.map(wordsOf))
  return wordsOf(finalAnswer(answer) ?? answer) > longest + MOST_WORDS
}

const wordsOf = (text: string): number => normalizeText(text).split(' ').length
