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
  if (context.judge !== undefined)
    return checkAnswer({ checker: 'judge', answer: gold.answers.join(' or ') }, answer, context)
  return {
    outcome: 'undecided',
    checker: 'exact',
    evidence:
      'the answer is a whole text; with --judge, a model decides whether it agrees with the gold answer',
  }
}

function isText(answer: string, golds: readonly string[]): boolean {
  const longest = Math.max(...golds.map(wordsOf))
  return wordsOf(finalAnswer(answer) ?? answer) > longest + MOST_WORDS
}

const wordsOf = (text: string): number => normalizeText(text).split(' ').length
