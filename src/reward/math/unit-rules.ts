import type { Equality } from './algebra.ts'
import { equalExpressions } from './equal-expressions.ts'
import { mayCompare } from './evaluated.ts'
import { evaluateExact } from './exact.ts'
import { type Node, some, variablesOf } from './node.ts'
import { numberNode, times } from './number-nodes.ts'
import { isKnownUnit, ratioOf } from './unit-scales.ts'
import type { CompareContext, Value } from './value.ts'

type Expression = Extract<Value, { kind: 'expression' }>

/**
 * Compares numbers with units.
 *
 * - The same unit on both sides, or a word on one side only: the numbers decide.
 * - Two units of one kind: converted, so 120 minutes are 2 hours. Two known units of different kinds: unequal.
 * - Percent on one side only: equal when the value is (0.5 and 50%), and when the number is the same and greater than
 *   one (50 and 50%), where the sign is just the unit. Other numbers (1 and 1%) only if the question mentions percent.
 * - Degrees on one side only: equal when the number is the same, or when the other side has a π and is the angle in
 *   radians.
 */
export async function compareUnits(
  gold: Expression,
  answer: Expression,
  context: CompareContext,
): Promise<Equality> {
  if (!context.expressions && !mayCompare(gold.node, answer.node)) {
    context.unevaluated = true
    return 'unequal'
  }
  const equal = (left: Node, right: Node) => equalExpressions(left, right, asksToRound(context))
  const numbers = (await unitLetters(gold.node, answer.node)) ?? (await equal(gold.node, answer.node))
  const [goldUnit, answerUnit] = [gold.unit, answer.unit]
  if (goldUnit === undefined && answerUnit === undefined) return numbers
  if (goldUnit?.kind === 'word' && answerUnit?.kind === 'word') {
    if (goldUnit.name === answerUnit.name) return numbers
    const ratio = ratioOf(answerUnit.name, goldUnit.name)
    if (ratio !== undefined) return equal(gold.node, scaled(answer.node, ratio))
    const areKnown = isKnownUnit(goldUnit.name) && isKnownUnit(answerUnit.name)
    return areKnown || context.inList === true ? 'unequal' : numbers
  }
  if (goldUnit?.kind === answerUnit?.kind) return numbers
  const kinds = [goldUnit?.kind, answerUnit?.kind]
  if (kinds.includes('percent'))
    return kinds.includes('degree') || kinds.includes('word')
      ? 'unequal'
      : comparePercent(gold, answer, numbers, context)
  if (kinds.includes('degree'))
    return kinds.includes('word') ? 'unequal' : compareDegrees(gold, answer, numbers)
  // A gold answer of 0.3 without a unit, compared with 30 cents, is in dollars.
  if (numbers === 'unequal' && answerUnit?.kind === 'word' && answerUnit.name === 'cent')
    return equal(gold.node, scaled(answer.node, { top: 1, bottom: 100 }))
  return numbers
}

const asksToRound = ({ question }: CompareContext): boolean =>
  question !== undefined &&
  /\bround(?:ed|ing)?\b|\bnearest\b|\bdecimal places?\b|\bapproximat|\bestimate/i.test(question)

const scaled = (node: Node, { top, bottom }: { top: number; bottom: number }): Node => ({
  kind: 'divide',
  top: times(numberNode(top), node),
  bottom: numberNode(bottom),
})

const scalingLetters: Record<string, number> = { k: 1_000, K: 1_000, M: 1_000_000, B: 1_000_000_000 }
/** Letters that are more often units than unknowns. */
const unitLetter = /^[cCdDfFgGhkKlLmMpPsStTVWBN]$/

/**
 * If the gold answer has no variables, the letters of `5 gal` are a unit, and the letter of `5k` may mean a thousand.
 */
async function unitLetters(gold: Node, answer: Node): Promise<Equality | undefined> {
  if (variablesOf(gold).size > 0 || answer.kind !== 'multiply') return undefined
  const [number, ...letters] = answer.factors
  const names = letters.map(letterOf)
  if (number?.kind !== 'number' || names.includes(undefined)) return undefined
  // 3i and 2e are numbers.
  if (names.length === 1 && letters[0]!.kind === 'constant') return undefined
  const scale = names.length === 1 ? scalingLetters[names[0]!] : undefined
  if (scale !== undefined && (await equalExpressions(gold, times(number, numberNode(scale)))) === 'equal')
    return 'equal'
  if (names.length === 1 && !unitLetter.test(names[0]!)) return 'unequal'
  if (names.length === 1 && /^[kKB]$/.test(names[0]!)) return 'unequal'
  return equalExpressions(gold, number)
}

/** A letter, optionally with the power of an area or a volume: m^3. */
function letterOf(node: Node): string | undefined {
  if (node.kind === 'variable' || (node.kind === 'constant' && /^[ei]$/.test(node.name))) return node.name
  if (node.kind !== 'power' || node.exponent.kind !== 'number') return undefined
  return node.base.kind === 'variable' ? node.base.name : undefined
}

async function comparePercent(
  gold: Expression,
  answer: Expression,
  numbers: Equality,
  context: CompareContext,
): Promise<Equality> {
  const share = (side: Expression): Node =>
    side.unit?.kind === 'percent' ? { kind: 'divide', top: side.node, bottom: numberNode(100) } : side.node
  const values = await equalExpressions(share(gold), share(answer), asksToRound(context))
  const value = evaluateExact(gold.node, new Map())
  const magnitude = value === undefined || value.numerator > 0n ? value?.numerator : -value.numerator
  const isAboveOne = value !== undefined && magnitude! > value.denominator
  // If the question asks for percent, a bare 12 means 12%, not 1200%.
  const asksForPercent = context.question !== undefined && /percent|%/i.test(context.question)
  if (asksForPercent && isAboveOne && gold.unit === undefined) return numbers
  if (values === 'equal' || numbers === 'unequal') return values
  return asksForPercent || isAboveOne ? numbers : values
}

async function compareDegrees(gold: Expression, answer: Expression, numbers: Equality): Promise<Equality> {
  const [angle, other] = gold.unit?.kind === 'degree' ? [gold.node, answer.node] : [answer.node, gold.node]
  if (!some(other, (node) => node.kind === 'constant' && node.name === 'pi')) return numbers
  const radians: Node = {
    kind: 'divide',
    top: { kind: 'multiply', factors: [angle, { kind: 'constant', name: 'pi' }] },
    bottom: numberNode(180),
  }
  return equalExpressions(radians, other)
}
