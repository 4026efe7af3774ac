import { algebraEquality, type Equality } from './algebra.ts'
import { isDefined } from './complex.ts'
import { compareDecimals } from './decimals.ts'
import { childrenOf, keyOf, type Node, some, variablesOf } from './node.ts'
import { evaluateNumeric } from './numeric.ts'
import { sampleEquality } from './sample.ts'

const nodeLimit = 400

function count(node: Node): number {
  return childrenOf(node).reduce((sum, child) => sum + count(child), 1)
}

const isInfinite = (node: Node): boolean =>
  node.kind === 'negate' ? isInfinite(node.of) : node.kind === 'constant' && node.name === 'infinity'

/**
 * Whether two expressions have the same value, or are the same function of their variables.
 *
 * The same structure means equal. Otherwise they are evaluated at random points: exact rational values decide alone;
 * doubles that differ by more than their error bound mean unequal; if the doubles agree, the algebra engine must
 * confirm it, with eighty digits or by simplifying the difference to zero.
 */
export async function equalExpressions(gold: Node, answer: Node, asksToRound = false): Promise<Equality> {
  const [goldKey, answerKey] = [keyOf(gold), keyOf(answer)]
  if (goldKey === answerKey) return 'equal'
  if (isInfinite(gold) || isInfinite(answer)) return 'unequal'
  const infinite = (node: Node) => some(node, isInfinite)
  if (infinite(gold) || infinite(answer) || count(gold) + count(answer) > nodeLimit) return 'unknown'
  if (variablesOf(answer, variablesOf(gold)).size === 0) {
    const decided = compareDecimals(gold, answer, asksToRound)
    if (decided !== undefined) return decided
    // Compared with a number, anything infinite or undefined is different.
    const [left, right] = [evaluateNumeric(gold, new Map()), evaluateNumeric(answer, new Map())]
    if (isDefined(left) && !isDefined(right)) return 'unequal'
  }
  const sampled = sampleEquality(gold, answer, `${goldKey}\n${answerKey}`)
  if (sampled.equality !== 'equal' || sampled.exactly) return sampled.equality
  return algebraEquality(gold, answer)
}
