import type { Verdict } from '../../schema/index.ts'
import { verdict } from '../verdict.ts'
import { tokenF1 } from './f1.ts'
import { normalizeText } from './normalize.ts'

/** Longer answers are no short answers; normalising megabytes would only cost time. */
const lengthLimit = 20_000

/**
 * Exact match after normalisation, the same in training and evaluation.
 *
 * The golds are alternatives: matching one is enough. `|` separates parts of an answer, and every part counts:
 * `Beijing|Shanghai` is right beside the golds Beijing and Shanghai, and wrong beside Beijing alone, whichever part
 * comes first. A gold with `|` names several things that must all be given, in any order.
 * The score is the best F1 over the golds.
 */
export function checkText(golds: readonly string[], answer: string): Verdict {
  if (answer.length > lengthLimit) {
    return verdict('wrong', 'exact', `the answer is longer than ${lengthLimit} characters`, 0)
  }
  const parts = partsOf(answer)
  const alternatives = golds.map(partsOf)
  if (parts.size === 0) return verdict('wrong', 'exact', 'the answer is empty', 0)
  const single = new Set(
    alternatives.filter(({ size }) => size === 1).flatMap((alternative) => [...alternative]),
  )
  const isMatch =
    [...parts].every((part) => single.has(part)) ||
    alternatives.some((alternative) => sameSet(alternative, parts))
  const score = isMatch ? 1 : Math.max(...golds.map((gold) => tokenF1(gold, answer)))
  const given = [...parts].join(' | ').slice(0, 200)
  if (isMatch) return verdict('correct', 'exact', `“${given}” is among the gold answers`, 1)
  return verdict('wrong', 'exact', `“${given}” is not among the gold answers; F1 ${score.toFixed(2)}`, score)
}

/** A part that normalises to nothing, such as “+”, is kept as it was written. */
function partsOf(text: string): Set<string> {
  const parts = text.split('|').map((part) => part.trim())
  return new Set(parts.filter((part) => part !== '').map((part) => normalizeText(part) || part))
}

const sameSet = (left: ReadonlySet<string>, right: ReadonlySet<string>): boolean =>
  left.size === right.size && [...left].every((item) => right.has(item))
