import { keyOf, type Node } from './node.ts'
import { NotMath } from './not-math.ts'
import { readNumber } from './number-nodes.ts'
import { type Ambiguities, parseExpression, type Reading } from './parse.ts'
import { integer, multiply } from './rational.ts'
import type { Token } from './tokenize.ts'
import { splitUnit } from './units.ts'
import { expression, type Relation, type Value } from './value.ts'

const openers = new Set(['(', '[', '{', '\\{', 'matrix', 'lfloor', 'lceil'])
const closers = new Set([')', ']', '}', '\\}', 'endmatrix', 'rfloor', 'rceil'])
const relations = new Set<string>(['=', '<', '>', '<=', '>=', '!='])

export interface ReadContext {
  reading: Reading
  ambiguities: Ambiguities
  /** The unit of the gold answer, when parsing an answer. */
  unitHint?: string
}

/** Parses tokens as a value, or throws NotMath. */
export function readValue(tokens: readonly Token[], context: ReadContext): Value {
  if (tokens.length === 0) throw new NotMath('nothing to read')
  const row = numberRow(tokens)
  if (row !== undefined) return row
  const member = membership(tokens)
  if (member !== undefined) return readValue(member, context)
  const listed = splitAt(tokens, (token) => token.type === 'symbol' && /^(?:,|;|or)$/.test(token.text))
  if (listed.length > 1) {
    // `a, b, and c` has an empty part between the comma and the word.
    const parts = listed.filter((part) => part.length > 0)
    if (parts.length === 1) return readValue(parts[0]!, context)
    return { kind: 'collection', items: parts.map((part) => readValue(part, context)), braced: false }
  }
  const united = splitAt(tokens, (token) => token.type === 'command' && token.text === 'cup')
  if (united.length > 1) return { kind: 'union', parts: united.map((part) => readValue(part, context)) }
  const related = splitAt(tokens, isRelation)
  if (related.length > 1) return readRelation(tokens, related, context)
  return readBracketed(tokens, context) ?? readRatio(tokens, context) ?? readPlain(tokens, context)
}

/** `6 4 -1`: a row of numbers, in order. */
function numberRow(tokens: readonly Token[]): Value | undefined {
  const items: Value[] = []
  for (let at = 0; at < tokens.length; at++) {
    const isNegative = tokens[at]!.type === 'symbol' && tokens[at]!.text === '-'
    const spaced = at === 0 || tokens[at]!.spaced
    const digits = tokens[isNegative ? ++at : at]
    if (!spaced || digits?.type !== 'number' || (isNegative && digits.spaced)) return undefined
    const node = readNumber(digits.text)
    items.push(expression(isNegative ? { kind: 'negate', of: node } : node))
  }
  return items.length < 2 ? undefined : { kind: 'tuple', open: '(', close: ')', items }
}

const isRelation = (token: Token): boolean => token.type === 'symbol' && relations.has(token.text)

/** Splits where the test holds, outside all brackets. */
function splitAt(tokens: readonly Token[], test: (token: Token) => boolean): Token[][] {
  const parts: Token[][] = [[]]
  let depth = 0
  for (const token of tokens) {
    if (token.type !== 'word' && openers.has(token.text)) depth++
    if (token.type !== 'word' && closers.has(token.text)) depth--
    if (depth === 0 && test(token)) parts.push([])
    else parts.at(-1)!.push(token)
  }
  return parts
}

/** `x \in S` means S. */
function membership(tokens: readonly Token[]): Token[] | undefined {
  const sides = splitAt(tokens, (token) => token.type === 'command' && token.text === 'in')
  return sides.length === 2 && sides[0]!.length === 1 && sides[0]![0]!.type === 'name' ? sides[1] : undefined
}

function readRelation(tokens: readonly Token[], parts: Token[][], context: ReadContext): Value {
  const operators: Relation[] = []
  let depth = 0
  for (const token of tokens) {
    if (openers.has(token.text)) depth++
    if (closers.has(token.text)) depth--
    if (depth === 0 && isRelation(token)) operators.push(token.text as Relation)
  }
  const values = parts.map(
    (part, index) => (index === 0 ? readHeading(part) : undefined) ?? readValue(part, context),
  )
  return { kind: 'relation', parts: values, operators }
}

/** The name on the left of an equation: `f(x)`, `(x, y)` or words. */
function readHeading(tokens: readonly Token[]): Value | undefined {
  const text = tokens.map((token) => token.text).join('')
  if (/^[a-zA-Z]'?\(-?(?:[a-zA-Z]|\d+)(?:,?-?(?:[a-zA-Z]|\d+))*\)$/.test(text))
    return { kind: 'heading', name: text }
  if (/^\([a-zA-Z](?:,[a-zA-Z])+\)$/.test(text)) return { kind: 'heading', name: text }
  // AB = 5 is a length, \\angle ABC = 5 an angle.
  if (/^(?:m?(?:angle|triangle)[A-Z]{1,3}|[A-Z]{2,3})$/.test(text)) return { kind: 'heading', name: text }
  const areWords = tokens.length > 0 && tokens.every((token) => token.type === 'word')
  return areWords ? { kind: 'heading', name: text } : undefined
}

function readBracketed(tokens: readonly Token[], context: ReadContext): Value | undefined {
  const [first, last] = [tokens[0]!, tokens.at(-1)!]
  if (tokens.length === 1 && first.type === 'command') {
    if (first.text === 'emptyset') return { kind: 'collection', items: [], braced: true }
    if (first.text === 'reals') return interval('(', negativeInfinity, infinity, ')')
  }
  const pair = first.text + last.text
  const opens = first.type === 'symbol' || first.text === 'matrix'
  if (!opens || !spansAll(tokens)) return undefined
  const inner = tokens.slice(1, -1)
  if (pair === 'matrixendmatrix') return readMatrix(inner, context)
  const parts = splitAt(
    inner,
    (token) => token.type === 'symbol' && (token.text === ',' || token.text === ';'),
  )
  if (pair === '\\{\\}') {
    // {x | x > 2}: only the condition matters.
    if (inner[0]?.type === 'name' && inner[1]?.type === 'symbol' && /^[|:]$/.test(inner[1].text))
      return readValue(inner.slice(2), context)
    if (inner.length === 0) return { kind: 'collection', items: [], braced: true }
    return { kind: 'collection', items: parts.map((part) => readValue(part, context)), braced: true }
  }
  // LaTeX braces, and brackets around a single value, only group.
  if (pair === '{}') return readValue(inner, context)
  if (inner[0]?.text === 'matrix' && spansAll(inner)) return readValue(inner, context)
  const isTuple = (first.text === '(' || first.text === '[') && (last.text === ')' || last.text === ']')
  if (!isTuple || parts.length < 2) return undefined
  return {
    kind: 'tuple',
    open: first.text as '(' | '[',
    close: last.text as ')' | ']',
    items: parts.map((part) => readValue(part, context)),
  }
}

/** Whether the first bracket is closed by the last token. */
function spansAll(tokens: readonly Token[]): boolean {
  let depth = 0
  for (const [index, token] of tokens.entries()) {
    if (token.type !== 'word' && openers.has(token.text)) depth++
    if (token.type !== 'word' && closers.has(token.text)) depth--
    if (depth === 0) return index === tokens.length - 1 && index > 0
  }
  return false
}

const infinity: Node = { kind: 'constant', name: 'infinity' }
const negativeInfinity: Node = { kind: 'negate', of: infinity }
const interval = (open: '(' | '[', low: Node, high: Node, close: ')' | ']'): Value => ({
  kind: 'tuple',
  open,
  close,
  items: [expression(low), expression(high)],
})

function readMatrix(tokens: readonly Token[], context: ReadContext): Value {
  const rows = splitAt(tokens, (token) => token.text === '\\\\').filter((row) => row.length > 0)
  const parse = (cell: Token[]) => parseExpression(cell, context.reading, context.ambiguities)
  return { kind: 'matrix', rows: rows.map((row) => splitAt(row, (token) => token.text === '&').map(parse)) }
}

/** 3:30, 3:30 pm and 1:2:3. */
function readRatio(tokens: readonly Token[], context: ReadContext): Value | undefined {
  const last = tokens.at(-1)
  const half = last?.type === 'word' && /^[ap]m$/.test(last.text) ? last.text : undefined
  const numbers = half === undefined ? tokens : tokens.slice(0, -1)
  const parts = splitAt(numbers, (token) => token.type === 'symbol' && token.text === ':')
  if (parts.length < 2) return undefined
  return {
    kind: 'ratio',
    parts: parts.map((part) => parseExpression(part, context.reading, context.ambiguities)),
    ...(half === undefined ? {} : { half }),
  }
}

function readPlain(tokens: readonly Token[], context: ReadContext): Value {
  if (tokens.every((token) => token.type === 'word')) {
    return {
      kind: 'text',
      words: tokens.flatMap((token) => token.text.split(/[^\p{L}\p{N}]+/u)).filter(Boolean),
    }
  }
  const numeral = readBase(tokens)
  if (numeral !== undefined) return numeral
  const { body, unit, scale } = splitUnit(tokens, context.unitHint)
  const parsed = parseExpression(body, { ...context.reading, sign: 1 }, context.ambiguities)
  const plus = scale === undefined ? parsed : scaledNumber(parsed, scale)
  const withUnit = (node: Node): Value =>
    unit === undefined ? expression(node) : { kind: 'expression', node, unit }
  if (!context.ambiguities.sign) return withUnit(plus)
  const minus = parseExpression(body, { ...context.reading, sign: -1 }, context.ambiguities)
  context.ambiguities.sign = false
  return keyOf(plus) === keyOf(minus)
    ? withUnit(plus)
    : { kind: 'collection', items: [withUnit(plus), withUnit(minus)], braced: false }
}

/** Evaluates 5 million: the word is part of the number. */
function scaledNumber(node: Node, scale: number): Node {
  if (node.kind === 'negate') return { kind: 'negate', of: scaledNumber(node.of, scale) }
  const value = node.kind === 'number' ? multiply(node.value, integer(scale)) : undefined
  if (value === undefined) throw new NotMath('a scale word after something other than a number')
  return { kind: 'number', value }
}

/** 2516_8 or 2516_{8}. */
function readBase(tokens: readonly Token[]): Value | undefined {
  const isNegative = tokens[0]?.text === '-' && tokens[0].type === 'symbol'
  const [digits, underscore, ...rest] = isNegative ? tokens.slice(1) : tokens
  if (digits?.type !== 'number' || underscore?.text !== '_') return undefined
  const base = rest.map((token) => token.text).join('')
  const match = /^\{?(\d+)\}?$/.exec(base)
  if (match === null) throw new NotMath('a subscript of a number')
  const plain = digits.text.replace(/^0+(?=\d)/, '')
  return { kind: 'base', digits: isNegative ? `-${plain}` : plain, base: Number(match[1]) }
}
