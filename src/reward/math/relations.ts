import type { Equality } from './algebra.ts'
import { isDefined, size } from './complex.ts'
import { equalExpressions } from './equal-expressions.ts'
import { type Node, variablesOf } from './node.ts'
import { evaluateNumeric } from './numeric.ts'
import { seededRandom } from './random.ts'
import type { Relation, Value } from './value.ts'

/** `left operator right`, normalized to a comparison of one side with zero. */
interface Condition {
  operator: Relation
  side: Node
}

export function conditionOf(value: Value): Condition | undefined {
  if (value.kind !== 'relation' || value.parts.length !== 2) return undefined
  const [left, right] = value.parts
  if (left?.kind !== 'expression' || right?.kind !== 'expression') return undefined
  const operator = value.operators[0]!
  // Greater is written as less with swapped sides.
  const swapped = operator.startsWith('>')
  const [a, b] = swapped ? [right.node, left.node] : [left.node, right.node]
  return {
    operator: swapped ? (operator === '>' ? '<' : '<=') : operator,
    side: { kind: 'add', terms: [a, { kind: 'negate', of: b }] },
  }
}

/**
 * Equations are equal if their sides differ by a nonzero factor, inequalities if it is positive: the factor is found
 * at one point and must hold everywhere. Without such a factor, only a point that solves one and not the other proves
 * them different; xy = 1 and y = 1/x have no such point and stay unknown.
 */
export async function equalConditions(gold: Condition, answer: Condition): Promise<Equality> {
  if (gold.operator !== answer.operator)
    return gold.operator === '=' || answer.operator === '=' ? 'unequal' : 'unknown'
  const factor = factorBetween(gold.side, answer.side)
  if (factor !== undefined && (factor > 0 || gold.operator === '=' || gold.operator === '!=')) {
    // The products g·a(p) and a·g(p) avoid division, so the factor stays exact.
    const scaled = await equalExpressions(...crossed(gold.side, answer.side))
    if (scaled === 'equal') return 'equal'
  }
  if (gold.operator !== '=') return 'unknown'
  return (await solvesOther(gold.side, answer.side)) || (await solvesOther(answer.side, gold.side))
    ? 'unequal'
    : 'unknown'
}

/** An integer point at which both sides are used as factors. */
function basePoint(variables: readonly string[]): ReadonlyMap<string, number> {
  return new Map(variables.map((name, index) => [name, [7, 13, 29, 37, 53, 61][index % 6]! + index]))
}

function factorBetween(gold: Node, answer: Node): number | undefined {
  const at = basePoint([...variablesOf(answer, variablesOf(gold))].sort())
  const [a, b] = [evaluateNumeric(gold, at), evaluateNumeric(answer, at)]
  if (!isDefined(a) || !isDefined(b) || size(a) < 1e-9 || size(b) < 1e-9 || a.im !== 0 || b.im !== 0)
    return undefined
  return b.re / a.re
}

function crossed(gold: Node, answer: Node): [Node, Node] {
  const at = basePoint([...variablesOf(answer, variablesOf(gold))].sort())
  return [
    { kind: 'multiply', factors: [gold, substituted(answer, at)] },
    { kind: 'multiply', factors: [answer, substituted(gold, at)] },
  ]
}

function substituted(node: Node, at: ReadonlyMap<string, number>): Node {
  switch (node.kind) {
    case 'variable':
      return { kind: 'number', value: { numerator: BigInt(at.get(node.name) ?? 1), denominator: 1n } }
    case 'add':
      return { ...node, terms: node.terms.map((term) => substituted(term, at)) }
    case 'multiply':
      return { ...node, factors: node.factors.map((factor) => substituted(factor, at)) }
    case 'divide':
      return { ...node, top: substituted(node.top, at), bottom: substituted(node.bottom, at) }
    case 'power':
      return { ...node, base: substituted(node.base, at), exponent: substituted(node.exponent, at) }
    case 'negate':
      return { ...node, of: substituted(node.of, at) }
    case 'call':
      return { ...node, args: node.args.map((argument) => substituted(argument, at)) }
    default:
      return node
  }
}

/** True if a root of the first, found by bisection in one variable, is definitely not a root of the second. */
async function solvesOther(first: Node, second: Node): Promise<boolean> {
  const variables = [...variablesOf(second, variablesOf(first))].sort()
  const random = seededRandom('roots')
  for (const unknown of variablesOf(first)) {
    for (let attempt = 0; attempt < 6; attempt++) {
      const at = new Map(variables.map((name) => [name, random() * 8 - 3]))
      const valueAt = (node: Node, x: number) => evaluateNumeric(node, new Map(at).set(unknown, x))
      const root = bisect((x) => valueAt(first, x).re)
      if (root === undefined) continue
      const value = valueAt(second, root)
      const nearby = valueAt(second, root + 1)
      if (isDefined(value) && isDefined(nearby) && size(value) > 1e-4 * Math.max(1, size(nearby))) return true
    }
  }
  return false
}

function bisect(f: (x: number) => number): number | undefined {
  for (let low = -40; low < 40; low += 1.37) {
    let [a, b] = [low, low + 1.37]
    const [fa, fb] = [f(a), f(b)]
    if (!(fa * fb < 0) || Math.abs(fa) > 1e6 || Math.abs(fb) > 1e6) continue
    const sign = Math.sign(fa)
    for (let step = 0; step < 80; step++) {
      const middle = (a + b) / 2
      if (Math.sign(f(middle)) === sign) a = middle
      else b = middle
    }
    // A pole also changes sign, but is not small there.
    if (Math.abs(f(a)) < 1e-7) return a
  }
  return undefined
}
