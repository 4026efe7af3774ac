import type { Verdict } from '../../schema/index.ts'
import { markedAnswer } from '../answer/final-answer.ts'
import { verdict } from '../verdict.ts'
import { tokenF1 } from './f1.ts'
import { normalizeText } from './normalize.ts'

/** Longer texts are not short answers; normalizing megabytes would only waste time. */
const lengthLimit = 20_000

/**
 * Exact match after normalization, the same in training and evaluation. The answer is the whole text, or the part
 * that the text marks as its answer ("The answer is Paris.").
 *
 * The gold answers are alternatives: matching one is enough. `|` separates parts of an answer, and every part counts:
 * `Beijing|Shanghai` is correct for the gold answers Beijing and Shanghai, and wrong for Beijing alone, in either
 * order. A gold answer with `|` lists several items that must all be given, in any order. The score is the best F1
 * over the gold answers.
 */
export function checkText(golds: readonly string[], answer: string): Verdict {
  const texts = [answer, markedAnswer(answer)].filter(
    (text) => text !== undefined && text.length <= lengthLimit,
  )
  const candidates = (texts as string[]).map((text) => ({ text, parts: partsOf(text) }))
  if (candidates.length === 0)
    return verdict('wrong', 'exact', `the answer is longer than ${lengthLimit} characters`, 0)
  if (candidates.every(({ parts }) => parts.size === 0))
    return verdict('wrong', 'exact', 'the answer is empty', 0)
  const match = candidates.find(({ parts }) => matches(golds, parts))
  const given = [...(match ?? candidates[0]!).parts].join(' | ').slice(0, 200)
  if (match !== undefined) return verdict('correct', 'exact', `“${given}” is among the gold answers`, 1)
  const score = Math.max(...golds.flatMap((gold) => candidates.map(({ text }) => tokenF1(gold, text))))
  return verdict('wrong', 'exact', `“${given}” is not among the gold answers; F1 ${score.toFixed(2)}`, score)
}

function matches(golds: readonly string[], parts: ReadonlySet<string>): boolean {
  if (parts.size === 0) return false
  const alternatives = golds.map(partsOf)
  const single = new Set(
    alternatives.filter(({ size }) => size === 1).flatMap((alternative) => [...alternative]),
  )
  return (
    [...parts].every((part) => single.has(part)) ||
    alternatives.some((alternative) => sameSet(alternative, parts))
  )
}

/** A part that normalizes to nothing, such as “+”, is kept as written. */
function partsOf(text: string): Set<string> {
  const parts = text.split('|').map((part) => part.trim())
  return new Set(parts.filter((part) => part !== '').map((part) => normalizeText(part) || part))
}

const sameSet = (left: ReadonlySet<string>, right: ReadonlySet<string>): boolean =>
  left.size === right.size && [...left].every((item) => right.has(item))
