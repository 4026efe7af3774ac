import type { Node } from './node.ts'
import type { Rational } from './rational.ts'
import * as exact from './rational.ts'

export type Assignment = ReadonlyMap<string, Rational>

const factorialLimit = 300n

/** The exact value at a point; undefined if it is irrational, undefined or too large. */
export function evaluateExact(node: Node, at: Assignment): Rational | undefined {
  switch (node.kind) {
    case 'number':
      return node.value
    case 'constant':
      return undefined
    case 'variable':
      return at.get(node.name)
    case 'add':
      return fold(node.terms, at, exact.add)
    case 'multiply':
      return fold(node.factors, at, exact.multiply)
    case 'divide':
      return fold([node.top, node.bottom], at, exact.divide)
    case 'negate': {
      const value = evaluateExact(node.of, at)
      return value === undefined ? undefined : exact.negate(value)
    }
    case 'power':
      return powerOf(evaluateExact(node.base, at), evaluateExact(node.exponent, at))
    case 'call':
      return callOf(
        node.name,
        node.args.map((argument) => evaluateExact(argument, at)),
      )
  }
}

function fold(
  nodes: readonly Node[],
  at: Assignment,
  combine: (a: Rational, b: Rational) => Rational | undefined,
): Rational | undefined {
  let result: Rational | undefined
  for (const [index, node] of nodes.entries()) {
    const value = evaluateExact(node, at)
    if (value === undefined) return undefined
    result = index === 0 ? value : combine(result!, value)
    if (result === undefined) return undefined
  }
  return result
}

function powerOf(base: Rational | undefined, exponent: Rational | undefined): Rational | undefined {
  if (base === undefined || exponent === undefined) return undefined
  // 0^0 is undefined.
  if (base.numerator === 0n && exponent.numerator <= 0n) return undefined
  if (exact.isInteger(exponent)) return exact.power(base, exponent.numerator)
  // The principal root of a negative number is not real.
  if (base.numerator < 0n || exponent.denominator > 64n) return undefined
  const root = exact.exactRoot(base, Number(exponent.denominator))
  return root === undefined ? undefined : exact.power(root, exponent.numerator)
}

function callOf(name: string, args: readonly (Rational | undefined)[]): Rational | undefined {
  const [first, second] = args
  if (first === undefined || (args.length > 1 && second === undefined)) return undefined
  switch (name) {
    case 'abs':
      return first.numerator < 0n ? exact.negate(first) : first
    case 'floor':
      return exact.floor(first)
    case 'ceiling':
      return exact.negate(exact.floor(exact.negate(first)))
    case 'sqrt':
      return exact.exactRoot(first, 2)
    case 'root':
      return exact.isInteger(second!) && second!.numerator > 1n && second!.numerator < 65n
        ? exact.exactRoot(first, Number(second!.numerator))
        : undefined
    case 'factorial':
      return factorial(first)
    case 'binomial':
      return binomial(first, second!)
    default:
      return undefined
  }
}

function factorial(value: Rational): Rational | undefined {
  if (!exact.isInteger(value) || value.numerator < 0n || value.numerator > factorialLimit) return undefined
  let product = 1n
  for (let factor = 2n; factor <= value.numerator; factor++) product *= factor
  return exact.rational(product)
}

function binomial(upper: Rational, lower: Rational): Rational | undefined {
  const [n, k] = [upper.numerator, lower.numerator]
  if (!exact.isInteger(upper) || !exact.isInteger(lower) || n < 0n || n > 2_000n || k < 0n) return undefined
  if (k > n) return exact.zero
  let result = 1n
  for (let i = 1n; i <= (k > n - k ? n - k : k); i++) result = (result * (n - i + 1n)) / i
  return exact.rational(result)
}
