import type { Opinion } from './algebra.ts'
import { equalExpressions } from './equal-expressions.ts'
import { evaluateExact } from './exact.ts'
import { type Node, some, variablesOf } from './node.ts'
import { numberNode } from './number-nodes.ts'
import type { CompareContext, Value } from './value.ts'

type Expression = Extract<Value, { kind: 'expression' }>

/**
 * Numbers with what stands after them.
 *
 * - The same unit on both sides, or a word on one side only: the numbers decide.
 * - Two different words: open, because 120 minutes are 2 hours.
 * - Percent on one side only: equal when the value is (0.5 and 50%), and when the number is the same and greater than
 *   one (50 and 50%), where the sign only names the unit; a share below one (0.5 and 0.5%) is not. If the question is
 *   known and does not speak of percent, the second case stays open.
 * - Degrees on one side only: equal when the number is the same, or when the other side has a π and is the angle in
 *   radians.
 */
export async function compareUnits(
  gold: Expression,
  answer: Expression,
  context: CompareContext,
): Promise<Opinion> {
  const numbers =
    (await unitLetters(gold.node, answer.node)) ?? (await equalExpressions(gold.node, answer.node))
  const [goldUnit, answerUnit] = [gold.unit, answer.unit]
  if (goldUnit === undefined && answerUnit === undefined) return numbers
  if (goldUnit?.kind === answerUnit?.kind) {
    const isSame =
      goldUnit?.kind !== 'word' || answerUnit?.kind !== 'word' || shareWord(goldUnit.name, answerUnit.name)
    return isSame ? numbers : 'unknown'
  }
  const kinds = [goldUnit?.kind, answerUnit?.kind]
  if (kinds.includes('percent'))
    return kinds.includes('degree') || kinds.includes('word')
      ? 'unknown'
      : comparePercent(gold, answer, numbers, context)
  if (kinds.includes('degree'))
    return kinds.includes('word') ? 'unknown' : compareDegrees(gold, answer, numbers)
  return numbers
}

/** Beside a gold without variables, `5 gal` and `5k` are a number with letters that may be a unit or a thousand. */
async function unitLetters(gold: Node, answer: Node): Promise<Opinion | undefined> {
  if (variablesOf(gold).size > 0 || answer.kind !== 'multiply') return undefined
  const [number, ...letters] = answer.factors
  if (number?.kind !== 'number' || !letters.every((letter) => letter.kind === 'variable')) return undefined
  const mayScale = letters.length === 1 && /^[kKmMbB]$/.test(letters[0]!.name)
  return mayScale || (await equalExpressions(gold, number)) !== 'unequal' ? 'unknown' : 'unequal'
}

function shareWord(left: string, right: string): boolean {
  const words = new Set(left.split(' '))
  return (
    left === right ||
    (right.split(' ').some((word) => words.has(word)) &&
      !left.includes('square') &&
      !right.includes('square'))
  )
}

async function comparePercent(
  gold: Expression,
  answer: Expression,
  numbers: Opinion,
  { question }: CompareContext,
): Promise<Opinion> {
  const scaled = (side: Expression): Node =>
    side.unit?.kind === 'percent' ? { kind: 'divide', top: side.node, bottom: numberNode(100) } : side.node
  const values = await equalExpressions(scaled(gold), scaled(answer))
  if (values === 'equal' || numbers === 'unequal') return values
  const value = evaluateExact(gold.node, new Map())
  const magnitude =
    value === undefined ? undefined : value.numerator < 0n ? -value.numerator : value.numerator
  if (value === undefined || magnitude === undefined) return 'unknown'
  if (magnitude < value.denominator) return gold.unit === undefined ? values : 'unknown'
  if (magnitude === value.denominator) return 'unknown'
  const speaksOfPercent = question === undefined || /percent|%/i.test(question)
  return speaksOfPercent ? numbers : 'unknown'
}

async function compareDegrees(gold: Expression, answer: Expression, numbers: Opinion): Promise<Opinion> {
  const [angle, other] = gold.unit?.kind === 'degree' ? [gold.node, answer.node] : [answer.node, gold.node]
  if (!some(other, (node) => node.kind === 'constant' && node.name === 'pi')) return numbers
  const radians: Node = {
    kind: 'divide',
    top: { kind: 'multiply', factors: [angle, { kind: 'constant', name: 'pi' }] },
    bottom: numberNode(180),
  }
  return equalExpressions(radians, other)
}
