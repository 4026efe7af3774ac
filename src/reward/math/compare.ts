import type { Equality } from './algebra.ts'
import { equalExpressions } from './equal-expressions.ts'
import { every, sameItems } from './equality.ts'
import { isEvaluated } from './evaluated.ts'
import { evaluateExact } from './exact.ts'
import { equalIntervals, intervalsOf } from './intervals.ts'
import { childrenOf, type Node, variablesOf } from './node.ts'
import { toNumber } from './rational.ts'
import { conditionOf, equalConditions } from './relations.ts'
import { compareUnits } from './unit-rules.ts'
import { type CompareContext, expression, type Value } from './value.ts'

/** Whether gold and answer are equal; `unknown` whenever a rule would have to guess. */
export async function compareValues(gold: Value, answer: Value, context: CompareContext): Promise<Equality> {
  const [left, right] = withoutResultNames(gold, answer)
  if (left.kind === 'expression' && right.kind === 'expression') return compareUnits(left, right, context)
  const [goldLine, answerLine] = [intervalsOf(left), intervalsOf(right)]
  // Two tuples are compared as tuples: (1, 2) may be a point.
  if (
    goldLine !== undefined &&
    answerLine !== undefined &&
    !(left.kind === 'tuple' && right.kind === 'tuple')
  ) {
    return equalIntervals(goldLine, answerLine)
  }
  const [goldCondition, answerCondition] = [conditionOf(left), conditionOf(right)]
  if (goldCondition !== undefined && answerCondition !== undefined)
    return equalConditions(goldCondition, answerCondition)
  if (left.kind === 'collection' || right.kind === 'collection')
    return compareCollections(left, right, context)
  if (left.kind === 'tuple' && right.kind === 'tuple') {
    if (left.items.length !== right.items.length) return 'unequal'
    // For two numbers, brackets distinguish open and closed intervals; for more they mean nothing.
    const differ = left.open !== right.open || left.close !== right.close
    if (differ && left.items.length === 2) return 'unequal'
    return every(left.items.map((item, index) => () => compareValues(item, right.items[index]!, context)))
  }
  if (left.kind === 'matrix' && right.kind === 'matrix') return compareMatrices(left.rows, right.rows)
  if (left.kind === 'ratio' && right.kind === 'ratio') {
    if (left.parts.length !== right.parts.length) return 'unequal'
    if (left.half !== undefined && right.half !== undefined && left.half !== right.half) return 'unequal'
    const same = await every(
      left.parts.map((part, index) => () => equalExpressions(part, right.parts[index]!)),
    )
    const isTime = left.half !== undefined || right.half !== undefined
    return same === 'unequal' && left.parts.length === 2 && !isTime
      ? proportional(left.parts, right.parts)
      : same
  }
  if (left.kind === 'base' && right.kind === 'base') {
    // The same number in a different base is not what was asked for.
    return left.base === right.base && left.digits === right.digits ? 'equal' : 'unequal'
  }
  if (left.kind === 'text' && right.kind === 'text') return compareTexts(left.words, right.words)
  return differentKinds(left, right, context)
}

async function proportional(
  [a, b]: Extract<Value, { kind: 'ratio' }>['parts'],
  [c, d]: Extract<Value, { kind: 'ratio' }>['parts'],
): Promise<Equality> {
  return equalExpressions({ kind: 'multiply', factors: [a!, d!] }, { kind: 'multiply', factors: [b!, c!] })
}

/** If only one side is an equation that names its result, the name is dropped: `x = 5` becomes `5`. */
function withoutResultNames(gold: Value, answer: Value): [Value, Value] {
  const isEquation = (value: Value) =>
    value.kind === 'relation' && value.operators.every((operator) => operator === '=')
  if (isEquation(answer) && !isEquation(gold)) {
    const items = gold.kind === 'collection' ? undefined : resultOf(answer)
    return [gold, items ?? answer]
  }
  if (isEquation(gold) && !isEquation(answer)) return [resultOf(gold) ?? gold, answer]
  const [goldHead, answerHead] = [headOf(gold), headOf(answer)]
  if (goldHead?.kind === 'heading' || answerHead?.kind === 'heading') {
    return [resultOf(gold) ?? gold, resultOf(answer) ?? answer]
  }
  return [gold, answer]
}

const headOf = (value: Value): Value | undefined => (value.kind === 'relation' ? value.parts[0] : undefined)

/**
 * The side of an equation that is the result: after a single name, or the last one of a calculation without
 * variables.
 */
function resultOf(value: Value): Value | undefined {
  if (value.kind !== 'relation' || value.operators.some((operator) => operator !== '=')) return undefined
  const [first, last] = [value.parts[0]!, value.parts.at(-1)!]
  const isName = (part: Value) =>
    part.kind === 'heading' || (part.kind === 'expression' && part.node.kind === 'variable')
  const isConstant = (part: Value) => part.kind === 'expression' && variablesOf(part.node).size === 0
  const constants = value.parts.filter(isConstant)
  if (contradicts(constants)) return undefined
  // 5 = 2 + 3 and 100/3 = 33.33 do not end in their result.
  const result = constants.findLast(isExactResult) ?? last
  if (isName(first)) return constants.length > 0 && isConstant(last) ? result : last
  if (value.parts.length === 2 && isName(last) && isConstant(first)) return first
  // m + n = 115 + 1 = 116: the chain ends in its result.
  if (isConstant(last) && (value.parts.length > 2 || isConstant(first) || isQuantity(first))) return result
  return undefined
}

const isExactResult = (part: Value, index: number, all: readonly Value[]): boolean =>
  part.kind === 'expression' &&
  isEvaluated(part.node) &&
  (index === 0 ||
    !isRounded(part) ||
    !all.slice(0, index).some((other) => !isRounded(other) && isEvaluatedPart(other)))

const isRounded = (part: Value): boolean =>
  part.kind === 'expression' && part.node.kind === 'number' && (part.node.decimals ?? 0) > 0
const isEvaluatedPart = (part: Value): boolean => part.kind === 'expression' && isEvaluated(part.node)

/** 5 = 6 has no result; 100/3 = 33.33 is rounded. Parts that are not rational are not checked. */
function contradicts(parts: readonly Value[]): boolean {
  const values = parts.flatMap((part) =>
    part.kind === 'expression' ? [evaluateExact(part.node, new Map())] : [],
  )
  const known = values.filter((value) => value !== undefined).map(toNumber)
  return known.some(
    (value) => Math.abs(value - known[0]!) > 0.01 * Math.max(Math.abs(value), Math.abs(known[0]!)),
  )
}

/**
 * A quantity that a question may ask for: m + n, z^3, xy or \\sin G. An equation such as 2x + 3 = 5 states no result.
 */
function isQuantity(value: Value): boolean {
  const isPlain = (node: Node): boolean => {
    if (node.kind === 'number') return false
    return node.kind === 'power' ? isPlain(node.base) : childrenOf(node).every(isPlain)
  }
  return value.kind === 'expression' && isPlain(value.node)
}

async function compareCollections(gold: Value, answer: Value, context: CompareContext): Promise<Equality> {
  // A point without brackets, in order or with named coordinates.
  if (gold.kind === 'tuple' && answer.kind === 'collection' && !answer.braced) {
    if (gold.open !== gold.close.replace(')', '(').replace(']', '[')) return 'unequal'
    const items = (namesOf(answer.items) === 'mixed' ? byName(answer.items) : answer.items).map(bareItem)
    if (items.length !== gold.items.length) return 'unequal'
    const same = await every(
      gold.items.map((item, index) => () => compareValues(item, items[index]!, context)),
    )
    // [2, 3] may be a list or an interval.
    return same === 'equal' && gold.open === '[' && items.length === 2 ? 'unknown' : same
  }
  // A set in braces is not a pair, but programs print lists in square brackets.
  if (gold.kind === 'collection' && gold.braced && answer.kind === 'tuple' && answer.open === '(') {
    if (!gold.items.some(({ kind }) => kind === 'tuple')) return 'unequal'
  }
  const [left, right] = [itemsOf(gold), listItems(gold, answer)]
  if (left === undefined || right === undefined) return 'unequal'
  const [goldNames, answerNames] = [namesOf(left), namesOf(right)]
  const areBare = goldNames === 'none' || answerNames === 'none'
  // x = 1, y = 2 assigns names: a bare list must be in the order of the names.
  if (areBare && (goldNames === 'sorted' || goldNames === 'mixed')) {
    const named = byName(left).map(bareItem)
    if (named.length !== right.length) return 'unequal'
    return every(named.map((item, index) => () => compareValues(item, right[index]!, context)))
  }
  const [golden, given] = areBare ? [left.map(bareItem), right.map(bareItem)] : [left, right]
  const inner: CompareContext = { ...context, inList: true }
  const same = await sameItems(golden, given, (a, b) => compareValues(a, b, inner))
  context.unevaluated ||= inner.unevaluated
  // In a set repetitions do not matter; in a list they do.
  const areLists =
    gold.kind === 'collection' && !gold.braced && answer.kind === 'collection' && !answer.braced
  return same === 'equal' && areLists && left.length !== right.length ? 'unequal' : same
}

const bareItem = (item: Value): Value => resultOf(item) ?? item

const nameOf = (item: Value): string => {
  const head = headOf(item)
  return head?.kind === 'expression' && head.node.kind === 'variable' ? head.node.name : ''
}
const byName = (items: readonly Value[]): Value[] =>
  [...items].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0))

/** Solutions may be in brackets; a list of points must not be taken apart. */
function listItems(gold: Value, answer: Value): Value[] | undefined {
  const holdsTuples = gold.kind === 'collection' && gold.items.some(({ kind }) => kind === 'tuple')
  return answer.kind === 'tuple' && !holdsTuples ? answer.items : itemsOf(answer)
}

/** How the items are named: not at all, all the same, or individually, sorted by name or not. */
function namesOf(items: readonly Value[]): 'none' | 'one' | 'sorted' | 'mixed' {
  const names = items.map((item) => {
    const head = headOf(item)
    if (head === undefined || resultOf(item) === undefined) return undefined
    return head.kind === 'expression' && head.node.kind === 'variable' ? head.node.name : ''
  })
  const given = names.filter((name) => name !== undefined)
  if (given.length === 0) return 'none'
  if (given.length < names.length) return 'mixed'
  if (new Set(given).size === 1) return 'one'
  const isSorted = given.every((name, index) => index === 0 || given[index - 1]! < name)
  return isSorted ? 'sorted' : 'mixed'
}

/** A single value is a collection of one. */
function itemsOf(value: Value): Value[] | undefined {
  if (value.kind === 'collection') return value.items
  return value.kind === 'expression' || value.kind === 'tuple' || value.kind === 'relation'
    ? [value]
    : undefined
}

async function compareMatrices(
  gold: Extract<Value, { kind: 'matrix' }>['rows'],
  answer: Extract<Value, { kind: 'matrix' }>['rows'],
): Promise<Equality> {
  const sameShape =
    gold.length === answer.length && gold.every((row, index) => row.length === answer[index]!.length)
  if (!sameShape) return 'unequal'
  return every(gold.flatMap((row, i) => row.map((cell, j) => () => equalExpressions(cell, answer[i]![j]!))))
}

/** Words that may precede a one-word answer: "It is Saturday." */
const leadWords = new Set(['it', 'is', 'was', 'on', 'this', 'that', 'the', 'they', 'are'])

function compareTexts(gold: readonly string[], answer: readonly string[]): Equality {
  if (gold.join(' ') === answer.join(' ')) return 'equal'
  const lead = answer.slice(0, -gold.length)
  if (gold.length === 1 && answer.at(-1) === gold[0] && lead.every((word) => leadWords.has(word)))
    return 'equal'
  // A single missing word means a different answer; longer texts may say the same in other words.
  return gold.length === 1 && !answer.includes(gold[0]!) ? 'unequal' : 'unknown'
}

/** Different notations for the same thing; all other kinds are different. */
async function differentKinds(gold: Value, answer: Value, context: CompareContext): Promise<Equality> {
  // The base is often given only in the question.
  if (gold.kind === 'base' && answer.kind === 'expression' && answer.node.kind === 'number')
    return String(answer.node.value.numerator) === gold.digits ? 'equal' : 'unequal'
  // 1:2 and 1/2.
  if (gold.kind === 'ratio' && gold.parts.length === 2 && answer.kind === 'expression') {
    return equalExpressions({ kind: 'divide', top: gold.parts[0]!, bottom: gold.parts[1]! }, answer.node)
  }
  if (answer.kind === 'ratio' && answer.parts.length === 2 && gold.kind === 'expression') {
    const quotient: Node = { kind: 'divide', top: answer.parts[0]!, bottom: answer.parts[1]! }
    // 12:00 is a time.
    return evaluateExact(quotient, new Map()) === undefined
      ? 'unequal'
      : equalExpressions(gold.node, quotient)
  }
  const [goldVector, answerVector] = [vectorOf(gold), vectorOf(answer)]
  if (goldVector !== undefined && answerVector !== undefined && goldVector.length === answerVector.length)
    return every(goldVector.map((item, index) => () => compareValues(item, answerVector[index]!, context)))
  return 'unequal'
}

/** A point, or a matrix of one row or one column. */
function vectorOf(value: Value): Value[] | undefined {
  if (value.kind === 'tuple') return value.items
  if (value.kind !== 'matrix') return undefined
  if (value.rows.length === 1) return value.rows[0]!.map(expression)
  return value.rows.every((row) => row.length === 1)
    ? value.rows.map((row) => expression(row[0]!))
    : undefined
}
