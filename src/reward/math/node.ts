import type { Rational } from './rational.ts'

type FunctionName =
  | 'sqrt'
  | 'root'
  | 'abs'
  | 'floor'
  | 'ceiling'
  | 'factorial'
  | 'binomial'
  | 'logarithm'
  | 'exponential'
  | Trigonometric

export const trigonometric = [
  'sin',
  'cos',
  'tan',
  'cot',
  'sec',
  'csc',
  'arcsin',
  'arccos',
  'arctan',
  'sinh',
  'cosh',
  'tanh',
] as const
export type Trigonometric = (typeof trigonometric)[number]

/** An expression. Sets, intervals and relations are not expressions: see value.ts. */
export type Node =
  /**
   * For a number written with a decimal point, `decimals` counts the digits after it and `digits` the significant
   * ones.
   */
  | { kind: 'number'; value: Rational; decimals?: number; digits?: number }
  | { kind: 'constant'; name: 'pi' | 'e' | 'i' | 'infinity' }
  | { kind: 'variable'; name: string }
  | { kind: 'add'; terms: Node[] }
  | { kind: 'multiply'; factors: Node[] }
  | { kind: 'divide'; top: Node; bottom: Node }
  | { kind: 'power'; base: Node; exponent: Node }
  | { kind: 'negate'; of: Node }
  | { kind: 'call'; name: FunctionName; args: Node[] }

export function childrenOf(node: Node): Node[] {
  switch (node.kind) {
    case 'add':
      return node.terms
    case 'multiply':
      return node.factors
    case 'divide':
      return [node.top, node.bottom]
    case 'power':
      return [node.base, node.exponent]
    case 'negate':
      return [node.of]
    case 'call':
      return node.args
    default:
      return []
  }
}

export function variablesOf(node: Node, into: Set<string> = new Set()): Set<string> {
  if (node.kind === 'variable') into.add(node.name)
  for (const child of childrenOf(node)) variablesOf(child, into)
  return into
}

export function some(node: Node, test: (node: Node) => boolean): boolean {
  return test(node) || childrenOf(node).some((child) => some(child, test))
}

/** A canonical form: sums and products are sorted. Nodes with equal keys are equal. */
export function keyOf(node: Node): string {
  switch (node.kind) {
    case 'number':
      return `${node.value.numerator}/${node.value.denominator}`
    case 'constant':
      return `\\${node.name}`
    case 'variable':
      return node.name
    case 'add':
      return `(+ ${node.terms.map(keyOf).sort().join(' ')})`
    case 'multiply':
      return `(* ${node.factors.map(keyOf).sort().join(' ')})`
    case 'divide':
      return `(/ ${keyOf(node.top)} ${keyOf(node.bottom)})`
    case 'power':
      return `(^ ${keyOf(node.base)} ${keyOf(node.exponent)})`
    case 'negate':
      return `(- ${keyOf(node.of)})`
    case 'call':
      return `(${node.name} ${node.args.map(keyOf).join(' ')})`
  }
}
