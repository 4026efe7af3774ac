import type { Node } from './node.ts'

export type Relation = '=' | '<' | '>' | '<=' | '>=' | '!='

/** What an answer can be: an expression, or something made of expressions. */
export type Value =
  | { kind: 'expression'; node: Node; unit?: Unit }
  /** Given without order: a set, solutions with commas, both signs of \pm. `braced` was written as a set. */
  | { kind: 'collection'; items: Value[]; braced: boolean }
  /** In order, with its brackets: a point, a vector or an interval, which look alike. */
  | { kind: 'tuple'; open: '(' | '['; close: ')' | ']'; items: Value[] }
  | { kind: 'union'; parts: Value[] }
  | { kind: 'matrix'; rows: Node[][] }
  | { kind: 'relation'; parts: Value[]; operators: Relation[] }
  /** A lone name on the left of an equation, such as `f(x)` or `(x, y)`. */
  | { kind: 'heading'; name: string }
  /** A ratio, or a time with its half of the day. */
  | { kind: 'ratio'; parts: Node[]; half?: string }
  | { kind: 'base'; digits: string; base: number }
  | { kind: 'text'; words: string[] }

/** What stands after a number: degrees and percent change its value in some readings, a word never does. */
export type Unit = { kind: 'percent' | 'degree' } | { kind: 'word'; name: string }

export const expression = (node: Node): Value => ({ kind: 'expression', node })

/** What is known beside the two answers, and what was found on the way. */
export interface CompareContext {
  question: string | undefined
  /** Whether an expression that has not been worked out counts as its value. */
  expressions: boolean
  /** In lists the words after the numbers tell them apart: 5 apples, 6 pears. */
  inList?: boolean
  /** Set when an answer was refused because it has not been worked out. */
  unevaluated: boolean
}
