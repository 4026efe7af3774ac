import type { Node } from './node.ts'

export type Relation = '=' | '<' | '>' | '<=' | '>=' | '!='

/** The value of an answer: an expression, or something composed of expressions. */
export type Value =
  | { kind: 'expression'; node: Node; unit?: Unit }
  /** Unordered: a set, a comma-separated list of solutions, both signs of \pm. `braced` means written as a set. */
  | { kind: 'collection'; items: Value[]; braced: boolean }
  /** Ordered, with its brackets: a point, a vector or an interval, which look alike. */
  | { kind: 'tuple'; open: '(' | '['; close: ')' | ']'; items: Value[] }
  | { kind: 'union'; parts: Value[] }
  | { kind: 'matrix'; rows: Node[][] }
  | { kind: 'relation'; parts: Value[]; operators: Relation[] }
  /** A name on the left of an equation, such as `f(x)` or `(x, y)`. */
  | { kind: 'heading'; name: string }
  /** A ratio, or a time with am or pm. */
  | { kind: 'ratio'; parts: Node[]; half?: string }
  | { kind: 'base'; digits: string; base: number }
  | { kind: 'text'; words: string[] }

/** What follows a number: degrees and percent can change its value, a word never does. */
export type Unit = { kind: 'percent' | 'degree' } | { kind: 'word'; name: string }

export const expression = (node: Node): Value => ({ kind: 'expression', node })

/** Context of a comparison, and its findings. */
export interface CompareContext {
  question: string | undefined
  /** Whether an unevaluated expression counts as its value. */
  expressions: boolean
  /** In lists, the words after the numbers distinguish them: 5 apples, 6 pears. */
  inList?: boolean
  /** Set if an answer was rejected because it is not evaluated. */
  unevaluated: boolean
}
