import type { Node, Trigonometric } from './node.ts'

/** The algebra engine's expression format, as plain data that can be sent to a worker. */
export type MathJson = string | number | { num: string } | MathJson[]

const names: Record<Exclude<(Node & { kind: 'call' })['name'], 'logarithm'>, string> &
  Record<Trigonometric, string> = {
  sqrt: 'Sqrt',
  root: 'Root',
  abs: 'Abs',
  floor: 'Floor',
  ceiling: 'Ceil',
  factorial: 'Factorial',
  binomial: 'Binomial',
  exponential: 'Exp',
  sin: 'Sin',
  cos: 'Cos',
  tan: 'Tan',
  cot: 'Cot',
  sec: 'Sec',
  csc: 'Csc',
  arcsin: 'Arcsin',
  arccos: 'Arccos',
  arctan: 'Arctan',
  sinh: 'Sinh',
  cosh: 'Cosh',
  tanh: 'Tanh',
}
const constants = { pi: 'Pi', e: 'ExponentialE', i: 'ImaginaryUnit', infinity: 'PositiveInfinity' }

/** Variables are renamed to v0, v1, …: to the engine, D or N would be an operator. */
export function toMathJson(node: Node, variables: readonly string[]): MathJson {
  const recurse = (child: Node): MathJson => toMathJson(child, variables)
  switch (node.kind) {
    case 'number': {
      const { numerator, denominator } = node.value
      const top = { num: String(numerator) }
      return denominator === 1n ? top : ['Divide', top, { num: String(denominator) }]
    }
    case 'constant':
      return constants[node.name]
    case 'variable':
      return `v${variables.indexOf(node.name)}`
    case 'add':
      return ['Add', ...node.terms.map(recurse)]
    case 'multiply':
      return ['Multiply', ...node.factors.map(recurse)]
    case 'divide':
      return ['Divide', recurse(node.top), recurse(node.bottom)]
    case 'power':
      return ['Power', recurse(node.base), recurse(node.exponent)]
    case 'negate':
      return ['Negate', recurse(node.of)]
    case 'call':
      if (node.name !== 'logarithm') return [names[node.name], ...node.args.map(recurse)]
      return [node.args.length > 1 ? 'Log' : 'Ln', ...node.args.map(recurse)]
  }
}
