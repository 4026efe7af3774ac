import type { Equality } from './algebra.ts'
import { isDefined } from './complex.ts'
import { equalExpressions } from './equal-expressions.ts'
import { every } from './equality.ts'
import { type Node, variablesOf } from './node.ts'
import { evaluateNumeric } from './numeric.ts'
import type { Relation, Value } from './value.ts'

interface End {
  node: Node
  value: number
  closed: boolean
}
export interface Interval {
  low: End
  high: End
}

const infinite = (sign: 1 | -1): End => {
  const infinity: Node = { kind: 'constant', name: 'infinity' }
  return {
    node: sign === 1 ? infinity : { kind: 'negate', of: infinity },
    value: sign * Number.POSITIVE_INFINITY,
    closed: false,
  }
}

function endOf(node: Node, closed: boolean): End | undefined {
  const of = node.kind === 'negate' ? node.of : node
  if (of.kind === 'constant' && of.name === 'infinity') return infinite(node.kind === 'negate' ? -1 : 1)
  if (variablesOf(node).size > 0) return undefined
  const value = evaluateNumeric(node, new Map())
  return isDefined(value) && value.im === 0 ? { node, value: value.re, closed } : undefined
}

const nodeOf = (value: Value | undefined): Node | undefined =>
  value?.kind === 'expression' && value.unit === undefined ? value.node : undefined

/** The intervals that a value describes, or undefined if it describes none. */
export function intervalsOf(value: Value): Interval[] | undefined {
  if (value.kind === 'tuple' && value.items.length === 2) {
    const [low, high] = [nodeOf(value.items[0]), nodeOf(value.items[1])]
    if (low === undefined || high === undefined) return undefined
    const [from, to] = [endOf(low, value.open === '['), endOf(high, value.close === ']')]
    return from === undefined || to === undefined || from.value > to.value
      ? undefined
      : [{ low: from, high: to }]
  }
  if (value.kind === 'union') return joined(value.parts)
  if (value.kind === 'relation') return ofInequality(value.parts.map(nodeOf), value.operators)
  // x < 1 or x > 2
  if (value.kind === 'collection' && !value.braced && value.items.every(({ kind }) => kind === 'relation')) {
    return joined(value.items)
  }
  return undefined
}

function joined(parts: readonly Value[]): Interval[] | undefined {
  const all = parts.map(intervalsOf)
  return all.includes(undefined) ? undefined : all.flatMap((part) => part!)
}

/** `x > 3`, `3 < x` or `1 < x <= 2`. */
function ofInequality(
  parts: readonly (Node | undefined)[],
  operators: readonly Relation[],
): Interval[] | undefined {
  if (operators.some((operator) => operator === '=' || operator === '!=')) return undefined
  const index = parts.findIndex((part) => part?.kind === 'variable')
  if (index < 0 || parts.includes(undefined)) return undefined
  let [low, high] = [infinite(-1), infinite(1)]
  for (const [position, operator] of operators.entries()) {
    const isAfter = position >= index
    const other = endOf(parts[isAfter ? position + 1 : position]!, operator.endsWith('='))
    if (other === undefined || Math.abs(index - position - (isAfter ? 0 : 1)) > 0) return undefined
    const bounds = operator.startsWith('<') === isAfter ? 'above' : 'below'
    if (bounds === 'above') high = other
    else low = other
  }
  return low.value > high.value ? undefined : [{ low, high }]
}

/** Sorted, with touching intervals merged: [0,1] and [1,2] give [0,2]; (0,1) and (1,2) do not give (0,2). */
function merged(intervals: readonly Interval[]): Interval[] {
  const sorted = [...intervals].sort(
    (a, b) => a.low.value - b.low.value || Number(b.low.closed) - Number(a.low.closed),
  )
  const result: Interval[] = []
  for (const next of sorted) {
    const last = result.at(-1)
    const touches =
      last !== undefined &&
      (next.low.value < last.high.value ||
        (next.low.value === last.high.value && (next.low.closed || last.high.closed)))
    if (!touches) {
      result.push({ ...next })
      continue
    }
    const { high } = last
    if (next.high.value > high.value) last.high = next.high
    else if (next.high.value === high.value && next.high.closed) last.high = { ...high, closed: true }
  }
  return result
}

export async function equalIntervals(
  gold: readonly Interval[],
  answer: readonly Interval[],
): Promise<Equality> {
  if (almostTouch(gold) || almostTouch(answer)) return 'unknown'
  const [left, right] = [merged(gold), merged(answer)]
  if (left.length !== right.length) return 'unequal'
  const ends = left.flatMap((part, index) => [
    [part.low, right[index]!.low] as const,
    [part.high, right[index]!.high] as const,
  ])
  if (ends.some(([a, b]) => a.closed !== b.closed)) return 'unequal'
  return every(
    ends.map(
      ([a, b]) =>
        () =>
          equalExpressions(a.node, b.node),
    ),
  )
}

/**
 * Ends that differ only by rounding may be the same number written in two ways, so we cannot tell whether the
 * intervals touch.
 */
function almostTouch(parts: readonly Interval[]): boolean {
  const ends = parts.flatMap(({ low, high }) => [low.value, high.value]).filter(Number.isFinite)
  const isNear = (a: number, b: number) => a !== b && Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a))
  return ends.some((a) => ends.some((b) => isNear(a, b)))
}
