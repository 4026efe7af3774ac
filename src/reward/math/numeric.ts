import * as complex from './complex.ts'
import { add, type Complex, divide, multiply, negate, real, undefinedValue } from './complex.ts'
import type { Node } from './node.ts'
import { toNumber } from './rational.ts'

export type Point = ReadonlyMap<string, number>

/** The value at a point in double precision, with its error; NaN where undefined or out of range. */
export function evaluateNumeric(node: Node, at: Point): Complex {
  switch (node.kind) {
    case 'number':
      return real(toNumber(node.value))
    case 'constant':
      if (node.name === 'pi') return real(Math.PI)
      if (node.name === 'e') return real(Math.E)
      return node.name === 'i' ? { re: 0, im: 1, error: 0 } : undefinedValue
    case 'variable':
      return real(at.get(node.name) ?? Number.NaN, 0)
    case 'add':
      return node.terms.map((term) => evaluateNumeric(term, at)).reduce(add)
    case 'multiply':
      return node.factors.map((factor) => evaluateNumeric(factor, at)).reduce(multiply)
    case 'divide':
      return divide(evaluateNumeric(node.top, at), evaluateNumeric(node.bottom, at))
    case 'negate':
      return negate(evaluateNumeric(node.of, at))
    case 'power':
      return complex.power(evaluateNumeric(node.base, at), evaluateNumeric(node.exponent, at))
    case 'call':
      return call(
        node.name,
        node.args.map((argument) => evaluateNumeric(argument, at)),
      )
  }
}

function call(name: (Node & { kind: 'call' })['name'], args: Complex[]): Complex {
  const a = args[0] ?? undefinedValue
  const b = args[1]
  const isReal = args.every((value) => value.im === 0)
  switch (name) {
    case 'sqrt':
      return squareRoot(a)
    case 'root':
      return root(a, b ?? undefinedValue)
    case 'abs':
      return { re: complex.size(a), im: 0, error: a.error }
    case 'floor':
      return isReal ? step(a, Math.floor) : undefinedValue
    case 'ceiling':
      return isReal ? step(a, Math.ceil) : undefinedValue
    case 'factorial':
      return factorial(a)
    case 'binomial':
      return binomial(a, b ?? undefinedValue)
    case 'exponential':
      return complex.exponential(a)
    case 'logarithm':
      return b === undefined ? complex.logarithm(a) : divide(complex.logarithm(a), complex.logarithm(b))
    case 'sin':
      return complex.sine(a)
    case 'cos':
      return complex.cosine(a)
    case 'tan':
      return divide(complex.sine(a), complex.cosine(a))
    case 'cot':
      return divide(complex.cosine(a), complex.sine(a))
    case 'sec':
      return divide(real(1), complex.cosine(a))
    case 'csc':
      return divide(real(1), complex.sine(a))
    default:
      return isReal ? realFunction(name, a) : undefinedValue
  }
}

const realFunctions = {
  // Each with its derivative, for error propagation.
  arcsin: [Math.asin, (x: number) => 1 / Math.sqrt(1 - x * x)],
  arccos: [Math.acos, (x: number) => 1 / Math.sqrt(1 - x * x)],
  arctan: [Math.atan, (x: number) => 1 / (1 + x * x)],
  sinh: [Math.sinh, Math.cosh],
  cosh: [Math.cosh, Math.sinh],
  tanh: [Math.tanh, () => 1],
} as const

function realFunction(name: keyof typeof realFunctions, a: Complex): Complex {
  const [value, slope] = realFunctions[name]
  const result = value(a.re)
  return real(result, Math.abs(slope(a.re)) * a.error + Math.abs(result) * 1e-15)
}

function squareRoot(a: Complex): Complex {
  if (a.im === 0 && a.re === 0 && a.error === 0) return a
  if (complex.mayBeZero(a)) return undefinedValue
  if (a.im !== 0) return complex.power(a, real(0.5, 0))
  const magnitude = Math.sqrt(Math.abs(a.re))
  const error = a.error / (2 * magnitude) + magnitude * 1e-15
  return a.re > 0 ? { re: magnitude, im: 0, error } : { re: 0, im: magnitude, error }
}

/** Odd roots of negative numbers are real, as in school books. */
function root(a: Complex, degree: Complex): Complex {
  const isOdd = degree.im === 0 && Number.isInteger(degree.re) && Math.abs(degree.re) % 2 === 1
  const exponent = divide(real(1, 0), degree)
  if (isOdd && a.im === 0 && a.re < 0) return negate(complex.power(negate(a), exponent))
  return complex.power(a, exponent)
}

/** Floor or ceiling, undefined if the error spans a step. */
function step(a: Complex, round: (value: number) => number): Complex {
  const value = round(a.re)
  return round(a.re - a.error) === value && round(a.re + a.error) === value ? real(value, 0) : undefinedValue
}

function factorial(a: Complex): Complex {
  if (a.im !== 0 || !Number.isInteger(a.re) || a.re < 0 || a.re > 170) return undefinedValue
  let product = 1
  for (let factor = 2; factor <= a.re; factor++) product *= factor
  return real(product, product * a.re * 2 ** -52)
}

function binomial(n: Complex, k: Complex): Complex {
  const below = add(n, negate(k))
  return divide(factorial(n), multiply(factorial(k), factorial({ ...below, re: Math.round(below.re) })))
}
