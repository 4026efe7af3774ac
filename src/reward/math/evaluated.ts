import { evaluateExact } from './exact.ts'
import { childrenOf, type Node, some, variablesOf } from './node.ts'
import { evaluateNumeric } from './numeric.ts'

/**
 * Whether an expression without variables is fully evaluated: no arithmetic on numbers is left to do.
 *
 * Values: 7, -0.5, 3/4, 2 1/2, 6.02·10^23, 10^6, √13, 3√2/2, 2+√3, 5π/6, 3-2i.
 * Not yet: 17·144-389, 6/2, 2^10, 5!, √(9+16), 2·3√2, 4π+5π, sin 30°.
 */
export function isEvaluated(node: Node): boolean {
  switch (node.kind) {
    case 'number':
    case 'constant':
    case 'variable':
      return true
    case 'negate':
      return isEvaluated(node.of)
    case 'divide':
      return isFraction(node) || (!isRational(node) && childrenOf(node).every(isEvaluated))
    case 'multiply':
      return (
        isScientific(node) || (node.factors.filter(isRational).length < 2 && node.factors.every(isEvaluated))
      )
    case 'power':
      return isPowerOfTen(node) || (!isWholePower(node) && childrenOf(node).every(isEvaluated))
    case 'add':
      return (
        node.terms.filter(isRational).length < 2 &&
        !haveLikeTerms(node.terms) &&
        node.terms.every(isEvaluated)
      )
    case 'call':
      return (
        (node.name === 'sqrt' || node.name === 'root') && !isRational(node) && node.args.every(isEvaluated)
      )
  }
}

/** Whether the answer may be compared by value: it is evaluated, or the gold answer itself is not. */
export function mayCompare(gold: Node, answer: Node): boolean {
  return variablesOf(gold).size > 0 || isEvaluated(answer) || !isEvaluated(gold)
}

const isRational = (node: Node): boolean =>
  variablesOf(node).size === 0 && evaluateExact(node, new Map()) !== undefined

const wholeOf = (node: Node): bigint | undefined => {
  if (node.kind === 'negate') return wholeOf(node.of)
  const isWhole = node.kind === 'number' && node.decimals === undefined && node.value.denominator === 1n
  return isWhole ? node.value.numerator : undefined
}

/** 3/4 and 6/8 are values; 6/2 is a division that was not carried out. */
function isFraction({ top, bottom }: Extract<Node, { kind: 'divide' }>): boolean {
  const [upper, lower] = [wholeOf(top), wholeOf(bottom)]
  if (upper === undefined || lower === undefined || lower === 0n) return false
  return lower === 1n || upper % lower !== 0n
}

function isPowerOfTen(node: Node): boolean {
  if (node.kind !== 'power' || wholeOf(node.base) !== 10n) return false
  const exponent = wholeOf(node.exponent)
  return exponent !== undefined && exponent <= 1_000n
}

/** A rational power of rationals that is rational, or too large to compute; the root of two is neither. */
function isWholePower({ base, exponent }: Extract<Node, { kind: 'power' }>): boolean {
  const power = variablesOf(exponent).size === 0 ? evaluateExact(exponent, new Map()) : undefined
  return (
    isRational(base) &&
    power !== undefined &&
    (power.denominator === 1n || isRational({ kind: 'power', base, exponent }))
  )
}

function isScientific({ factors }: Extract<Node, { kind: 'multiply' }>): boolean {
  return factors.length === 2 && factors[0]!.kind === 'number' && isPowerOfTen(factors[1]!)
}

/** 4π + 5π: one is a rational multiple of the other. */
function haveLikeTerms(terms: readonly Node[]): boolean {
  const values = terms
    .filter((term) => !isRational(term) && !some(term, ({ kind }) => kind === 'variable'))
    .map((term) => evaluateNumeric(term, new Map()))
  return values.some((a, index) =>
    values.slice(index + 1).some((b) => {
      const square = b.re * b.re + b.im * b.im
      const [re, im] = [(a.re * b.re + a.im * b.im) / square, (a.im * b.re - a.re * b.im) / square]
      return Math.abs(im) < 1e-12 && isSimpleRatio(re)
    }),
  )
}

function isSimpleRatio(value: number): boolean {
  for (let bottom = 1; bottom <= 12; bottom++) {
    const top = value * bottom
    if (Math.abs(top) > 1e-9 && Math.abs(top - Math.round(top)) < 1e-11 * Math.max(1, Math.abs(top)))
      return true
  }
  return false
}
