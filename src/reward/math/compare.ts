import type { Opinion } from './algebra.ts'
import { equalExpressions, isInfinite } from './equal-expressions.ts'
import { evaluateExact } from './exact.ts'
import { equalIntervals, intervalsOf } from './intervals.ts'
import { some, variablesOf } from './node.ts'
import { every, sameItems } from './opinions.ts'
import { equals } from './rational.ts'
import { conditionOf, equalConditions } from './relations.ts'
import { compareUnits } from './unit-rules.ts'
import type { CompareContext, Value } from './value.ts'

/** Are gold and answer the same? `unknown` whenever a rule would have to guess. */
export async function compareValues(gold: Value, answer: Value, context: CompareContext): Promise<Opinion> {
  const [left, right] = bothPlain(gold, answer)
  if (left.kind === 'expression' && right.kind === 'expression') return compareUnits(left, right, context)
  const [goldLine, answerLine] = [intervalsOf(left), intervalsOf(right)]
  // Two tuples are compared as tuples: (1, 2) may be a point.
  if (
    goldLine !== undefined &&
    answerLine !== undefined &&
    !(left.kind === 'tuple' && right.kind === 'tuple')
  ) {
    const same = await equalIntervals(goldLine, answerLine)
    return same === 'equal' && mayBePoint(left) ? 'unknown' : same
  }
  const [goldCondition, answerCondition] = [conditionOf(left), conditionOf(right)]
  if (goldCondition !== undefined && answerCondition !== undefined)
    return equalConditions(goldCondition, answerCondition)
  if (left.kind === 'collection' || right.kind === 'collection')
    return compareCollections(left, right, context)
  if (left.kind === 'tuple' && right.kind === 'tuple') {
    const differs =
      left.open !== right.open || left.close !== right.close || left.items.length !== right.items.length
    if (differs) return 'unequal'
    return every(left.items.map((item, index) => () => compareValues(item, right.items[index]!, context)))
  }
  if (left.kind === 'matrix' && right.kind === 'matrix') return compareMatrices(left.rows, right.rows)
  if (left.kind === 'ratio' && right.kind === 'ratio') {
    if (left.parts.length !== right.parts.length) return 'unequal'
    const same = await every(
      left.parts.map((part, index) => () => equalExpressions(part, right.parts[index]!)),
    )
    // 1:2 and 2:4 are the same ratio and not the same time.
    return same === 'unequal' && left.parts.length === 2 ? proportional(left.parts, right.parts) : same
  }
  if (left.kind === 'base' && right.kind === 'base') {
    if (left.base === right.base) return left.digits === right.digits ? 'equal' : 'unequal'
    // The same number in another base is not what was asked for, and not wrong either.
    return Number.parseInt(left.digits, left.base) === Number.parseInt(right.digits, right.base)
      ? 'unknown'
      : 'unequal'
  }
  if (left.kind === 'text' && right.kind === 'text') return compareTexts(left.words, right.words)
  return differentKinds(left, right)
}

/** (1, 2) alone may be a point: then 1 < x < 2 is another thing. */
function mayBePoint(value: Value): boolean {
  if (value.kind !== 'tuple' || value.open !== '(' || value.close !== ')') return false
  return !value.items.some((item) => item.kind === 'expression' && isInfinite(item.node))
}

async function proportional(
  [a, b]: Extract<Value, { kind: 'ratio' }>['parts'],
  [c, d]: Extract<Value, { kind: 'ratio' }>['parts'],
): Promise<Opinion> {
  const products = await equalExpressions(
    { kind: 'multiply', factors: [a!, d!] },
    { kind: 'multiply', factors: [b!, c!] },
  )
  return products === 'unequal' ? 'unequal' : 'unknown'
}

/** `x = 5` beside `5`: where only one side is an equation that names a result, the name is dropped. */
function bothPlain(gold: Value, answer: Value): [Value, Value] {
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

/** The side of an equation that is the result: after a lone name, or the last of a calculation without variables. */
function resultOf(value: Value): Value | undefined {
  if (value.kind !== 'relation' || value.operators.some((operator) => operator !== '=')) return undefined
  const [first, last] = [value.parts[0]!, value.parts.at(-1)!]
  const isName = (part: Value) =>
    part.kind === 'heading' || (part.kind === 'expression' && part.node.kind === 'variable')
  const isConstant = (part: Value) => part.kind === 'expression' && variablesOf(part.node).size === 0
  if (contradicts(value.parts.filter(isConstant))) return undefined
  if (isName(first)) return last
  if (value.parts.length === 2 && isName(last) && isConstant(first)) return first
  // m + n = 115 + 1 = 116: the chain ends in its result.
  if (isConstant(last) && (value.parts.length > 2 || isConstant(first) || isSumOfNames(first))) return last
  return undefined
}

/** 5 = 6 has no result. Parts that are not fractions are taken on trust. */
function contradicts(parts: readonly Value[]): boolean {
  const values = parts.flatMap((part) =>
    part.kind === 'expression' ? [evaluateExact(part.node, new Map())] : [],
  )
  const known = values.filter((value) => value !== undefined)
  return known.some((value) => !equals(value, known[0]!))
}

/** `m + n` of an AIME answer; an equation such as 2x + 3 = 5 states no result. */
function isSumOfNames(value: Value): boolean {
  if (value.kind !== 'expression' || value.node.kind !== 'add') return false
  return value.node.terms.every((term) => term.kind === 'variable')
}

async function compareCollections(gold: Value, answer: Value, context: CompareContext): Promise<Opinion> {
  // A point written without its brackets, in its order; any other order stays open, since lists have none.
  if (gold.kind === 'tuple' && answer.kind === 'collection' && !answer.braced) {
    if (gold.open !== '(' || gold.close !== ')' || namesOf(answer.items) === 'mixed') return 'unknown'
    const items = answer.items.map((item) => resultOf(item) ?? item)
    if (items.length !== gold.items.length) return 'unequal'
    const same = await every(
      gold.items.map((item, index) => () => compareValues(item, items[index]!, context)),
    )
    return same === 'unequal' ? 'unknown' : same
  }
  // Two solutions may be written as a pair, but then a pair may also mean an interval. A list of pairs is clear.
  if (
    gold.kind === 'collection' &&
    answer.kind === 'tuple' &&
    !gold.items.some(({ kind }) => kind === 'tuple')
  ) {
    return gold.braced ? 'unequal' : 'unknown'
  }
  const [left, right] = [itemsOf(gold), itemsOf(answer)]
  if (left === undefined || right === undefined) return 'unknown'
  const [goldNames, answerNames] = [namesOf(left), namesOf(right)]
  // x = 1, y = 2 says which is which; a bare list does not.
  if (
    goldNames !== answerNames &&
    [goldNames, answerNames].some((names) => names === 'sorted' || names === 'mixed')
  ) {
    if (goldNames === 'none' || answerNames === 'none') return 'unknown'
  }
  // A list of answers to x with x in front of each, beside the bare list.
  const bare = (items: readonly Value[]) => items.map((item) => resultOf(item) ?? item)
  const areBare = goldNames === 'none' || answerNames === 'none'
  const [golden, given] = areBare ? [bare(left), bare(right)] : [left, right]
  const same = await sameItems(golden, given, (a, b) => compareValues(a, b, context))
  // In a set repetitions mean nothing; in a list they may.
  const areLists =
    gold.kind === 'collection' && !gold.braced && answer.kind === 'collection' && !answer.braced
  return same === 'equal' && areLists && left.length !== right.length ? 'unknown' : same
}

/** What the items are called: not at all, all the same, or each by its own name, in the order of names or not. */
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
): Promise<Opinion> {
  const sameShape =
    gold.length === answer.length && gold.every((row, index) => row.length === answer[index]!.length)
  if (!sameShape) return 'unequal'
  return every(gold.flatMap((row, i) => row.map((cell, j) => () => equalExpressions(cell, answer[i]![j]!))))
}

/** It is Saturday. */
const leadWords = new Set(['it', 'is', 'was', 'on', 'this', 'that', 'the', 'they', 'are'])

/** One word beside another decides; longer texts may say the same in other words. */
function compareTexts(gold: readonly string[], answer: readonly string[]): Opinion {
  if (gold.join(' ') === answer.join(' ')) return 'equal'
  const lead = answer.slice(0, -gold.length)
  if (gold.length === 1 && answer.at(-1) === gold[0] && lead.every((word) => leadWords.has(word)))
    return 'equal'
  return gold.length === 1 && answer.length === 1 ? 'unequal' : 'unknown'
}

/** A number is no pair and no interval; for all else, the kinds may only be two ways to write one thing. */
function differentKinds(gold: Value, answer: Value): Opinion {
  const isNumber = (value: Value) =>
    value.kind === 'expression' && !some(value.node, (node) => node.kind === 'variable')
  const isPlural = (value: Value) =>
    value.kind === 'tuple' || value.kind === 'union' || value.kind === 'matrix'
  if ((isNumber(gold) && isPlural(answer)) || (isPlural(gold) && isNumber(answer))) return 'unequal'
  if (gold.kind === 'text' && gold.words.length === 1 && isNumber(answer)) return 'unequal'
  if (gold.kind === 'tuple' && answer.kind === 'union') return 'unequal'
  return 'unknown'
}
