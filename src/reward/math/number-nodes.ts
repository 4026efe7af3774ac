import type { Node } from './node.ts'
import { NotMath } from './not-math.ts'
import { add, divide, integer, multiply, parseDecimal, power } from './rational.ts'

export function times(left: Node, right: Node): Node {
  const factors = left.kind === 'multiply' ? [...left.factors, right] : [left, right]
  return { kind: 'multiply', factors }
}

export const numberNode = (value: number): Node => ({ kind: 'number', value: integer(value) })

export function isMinusOne(node: Node): boolean {
  return (
    node.kind === 'negate' &&
    node.of.kind === 'number' &&
    node.of.value.numerator === 1n &&
    node.of.value.denominator === 1n
  )
}

export function readNumber(text: string): Node {
  const [digits = '', exponent] = text.split(/[eE]/)
  const value = parseDecimal(digits)
  if (value === undefined) throw new NotMath('a number that is too long')
  const places = digits.includes('.') ? digits.length - digits.indexOf('.') - 1 : undefined
  const significant = digits.replace(/^[0.]+|\./g, '').length
  if (exponent === undefined)
    return {
      kind: 'number',
      value,
      ...(places === undefined ? {} : { decimals: places, digits: significant }),
    }
  const scale = power(integer(10), BigInt(exponent))
  const scaled = scale === undefined ? undefined : multiply(value, scale)
  if (scaled === undefined) throw new NotMath('a number that is too large')
  if (places === undefined) return { kind: 'number', value: scaled }
  return {
    kind: 'number',
    value: scaled,
    decimals: Math.max(0, places - Number(exponent)),
    digits: significant,
  }
}

export function mixed(whole: Node, top: Node, bottom: Node): Node {
  if (whole.kind !== 'number' || top.kind !== 'number' || bottom.kind !== 'number')
    throw new NotMath('a mixed number')
  const fraction = divide(top.value, bottom.value)
  // 2\frac{3}{2} may be a product or a typo: neither interpretation is safe.
  if (fraction === undefined || top.value.numerator >= bottom.value.numerator)
    throw new NotMath('an improper mixed number')
  const sum = add(whole.value, fraction)
  if (sum === undefined) throw new NotMath('a mixed number')
  return { kind: 'number', value: sum }
}
