import { isDefined, size } from './complex.ts'
import { evaluateExact } from './exact.ts'
import { type Node, some } from './node.ts'
import { evaluateNumeric } from './numeric.ts'
import { compare, equals, negate, type Rational, rational, subtract, toNumber } from './rational.ts'

interface Decimal {
  value: Rational
  /** Digits after the decimal point. */
  places: number
  /** Significant digits: without leading zeros. */
  significant: number
}

/** The number, if it is written as a decimal with digits after the point. */
function decimalOf(node: Node): Decimal | undefined {
  if (node.kind === 'negate') {
    const positive = decimalOf(node.of)
    return positive === undefined ? undefined : { ...positive, value: negate(positive.value) }
  }
  if (node.kind !== 'number' || node.decimals === undefined || node.decimals === 0) return undefined
  const digits = (node.value.numerator * 10n ** BigInt(node.decimals)) / node.value.denominator
  return {
    value: node.value,
    places: node.decimals,
    significant: String(digits < 0n ? -digits : digits).length,
  }
}

/** A decimal this long represents the exact number: ten digits, eight of them after the point. */
const isLong = ({ places, significant }: Decimal): boolean => significant >= 10 && places >= 8

/**
 * Compares if one side is a rounded decimal of the other; undefined if neither is.
 *
 * - 58 and 57.99999999999999, √3/2 and 0.8660254037844386: equal, as floating-point numbers are.
 * - 1/3 and 0.3333333333: equal, from ten digits on (rounded or truncated).
 * - 1/3 and 0.3333: unknown, with four to nine digits: it depends on the task whether that is enough. If the question
 *   asks for a rounded number, equal.
 * - 1/3 and 0.333: unequal.
 * - gold 33.33 and 100/3: unknown, because the gold itself may be rounded, unless the question asks for that; gold 0.3
 *   and 1/3: unequal.
 */
export function compareDecimals(
  gold: Node,
  answer: Node,
  asksToRound: boolean,
): 'equal' | 'unequal' | 'unknown' | undefined {
  if (isNearby(gold, answer)) return 'equal'
  const [goldDecimal, answerDecimal] = [decimalOf(gold), decimalOf(answer)]
  if (goldDecimal === undefined && answerDecimal === undefined) return undefined
  if (
    answerDecimal !== undefined &&
    (goldDecimal === undefined || goldDecimal.places > answerDecimal.places)
  ) {
    const shortened = isShortened(answerDecimal, gold)
    if (shortened !== 'yes') return shortened === 'no' ? 'unequal' : undefined
    if (isLong(answerDecimal)) return 'equal'
    if (answerDecimal.significant < 4)
      return asksToRound && answerDecimal.significant === 3 ? 'unknown' : 'unequal'
    return asksToRound ? 'equal' : 'unknown'
  }
  if (goldDecimal === undefined) return undefined
  const shortened = isShortened(goldDecimal, answer)
  if (shortened !== 'yes') return shortened === 'no' ? 'unequal' : undefined
  // 27.0 is the integer 27, not a rounded number.
  if (goldDecimal.value.denominator === 1n) return 'unequal'
  if (answerDecimal === undefined && isLong(goldDecimal)) return 'equal'
  if (goldDecimal.significant < 3 && !asksToRound) return 'unequal'
  return asksToRound ? 'equal' : 'unknown'
}

/** Programs print this many digits, the last of which are rounding errors. */
const floatDigits = 12

/**
 * Whether one side is a floating-point result and the other is the same up to rounding: within a billionth of the
 * value and within a millionth absolutely, unless the number is so large that this is its last digit.
 */
function isNearby(gold: Node, answer: Node): boolean {
  const isFloat = (node: Node): boolean =>
    some(
      node,
      (part) => part.kind === 'number' && (part.decimals ?? 0) > 0 && (part.digits ?? 0) >= floatDigits,
    )
  if (!isFloat(gold) && !isFloat(answer)) return false
  const [a, b] = [evaluateNumeric(gold, new Map()), evaluateNumeric(answer, new Map())]
  if (!isDefined(a) || !isDefined(b)) return false
  const gap = Math.hypot(a.re - b.re, a.im - b.im)
  const scale = Math.max(size(a), size(b))
  if (size(a) === 0) return gap <= 1e-12
  return gap <= 1e-9 * scale && (gap <= 1e-6 || gap <= 1e-14 * scale)
}

/** Whether the decimal is the exact value rounded or truncated after its last digit, but not the value itself. */
function isShortened(decimal: Decimal, of: Node): 'yes' | 'no' | 'itself' {
  const exact = evaluateExact(of, new Map())
  const step = rational(1n, 10n ** BigInt(decimal.places))!
  if (exact !== undefined) {
    if (equals(exact, decimal.value)) return 'itself'
    const gap = subtract(exact, decimal.value)
    if (gap === undefined) return 'itself'
    const distance = gap.numerator < 0n ? negate(gap) : gap
    const half = rational(1n, 2n * 10n ** BigInt(decimal.places))!
    const isRounded = compare(distance, half) <= 0
    const isTruncated = compare(distance, step) < 0 && gap.numerator < 0n === decimal.value.numerator < 0n
    return isRounded || isTruncated ? 'yes' : 'no'
  }
  const value = evaluateNumeric(of, new Map())
  if (!isDefined(value) || Math.abs(value.im) > value.error) return 'itself'
  const gap = value.re - toNumber(decimal.value)
  const unit = toNumber(step)
  const slack = 10 * value.error + Math.abs(value.re) * 1e-15
  // Equal within double precision: perhaps the value itself, such as 3.0 for a logarithm. Other checks must decide.
  if (Math.abs(gap) <= slack) return 'itself'
  const isTruncated = Math.abs(gap) < unit - slack && gap < 0 === decimal.value.numerator < 0n
  return Math.abs(gap) <= unit / 2 + slack || isTruncated ? 'yes' : 'no'
}
