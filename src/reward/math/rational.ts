/** An exact fraction in lowest terms with a positive denominator. */
export interface Rational {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** Larger results are abandoned: exact arithmetic on hostile input must stay cheap. */
const bitLimit = 8_192

const magnitude = (value: bigint): bigint => (value < 0n ? -value : value)
const bits = (value: bigint): number => magnitude(value).toString(16).length * 4

function greatestCommonDivisor(left: bigint, right: bigint): bigint {
  let [a, b] = [magnitude(left), magnitude(right)]
  while (b !== 0n) [a, b] = [b, a % b]
  return a
}

/** A fraction in lowest terms; undefined for a zero denominator or beyond the size limit. */
export function rational(numerator: bigint, denominator = 1n): Rational | undefined {
  if (denominator === 0n) return undefined
  if (denominator === 1n && bits(numerator) <= bitLimit) return { numerator, denominator }
  if (bits(numerator) + bits(denominator) > bitLimit) return undefined
  const divisor = greatestCommonDivisor(numerator, denominator) * (denominator < 0n ? -1n : 1n)
  return { numerator: numerator / divisor, denominator: denominator / divisor }
}

export const zero: Rational = { numerator: 0n, denominator: 1n }
const one: Rational = { numerator: 1n, denominator: 1n }

export const integer = (value: bigint | number): Rational => ({ numerator: BigInt(value), denominator: 1n })

export const add = (a: Rational, b: Rational): Rational | undefined =>
  rational(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator)

export const negate = (a: Rational): Rational => ({ numerator: -a.numerator, denominator: a.denominator })

export const subtract = (a: Rational, b: Rational): Rational | undefined => add(a, negate(b))

export const multiply = (a: Rational, b: Rational): Rational | undefined =>
  rational(a.numerator * b.numerator, a.denominator * b.denominator)

export const divide = (a: Rational, b: Rational): Rational | undefined =>
  rational(a.numerator * b.denominator, a.denominator * b.numerator)

export const equals = (a: Rational, b: Rational): boolean =>
  a.numerator === b.numerator && a.denominator === b.denominator

export function compare(a: Rational, b: Rational): number {
  const difference = a.numerator * b.denominator - b.numerator * a.denominator
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

export const isInteger = (a: Rational): boolean => a.denominator === 1n

/** An integer power; undefined if the result is too large, or for a negative power of zero. */
export function power(base: Rational, exponent: bigint): Rational | undefined {
  if (exponent < 0n) {
    const reciprocal = divide(one, base)
    return reciprocal === undefined ? undefined : power(reciprocal, -exponent)
  }
  const size = Math.max(bits(base.numerator), bits(base.denominator))
  const isUnit = magnitude(base.numerator) <= 1n && base.denominator === 1n
  if (!isUnit && exponent * BigInt(size) > BigInt(bitLimit)) return undefined
  if (isUnit) return base.numerator === -1n && exponent % 2n === 0n ? one : exponent === 0n ? one : base
  return rational(base.numerator ** exponent, base.denominator ** exponent)
}

/** The floor of a fraction. BigInt division rounds toward zero, so negative non-integers need one less. */
export function floor(a: Rational): Rational {
  const quotient = a.numerator / a.denominator
  return integer(a.numerator < 0n && quotient * a.denominator !== a.numerator ? quotient - 1n : quotient)
}

/** The nearest double, even if numerator or denominator exceed the range of doubles. */
export function toNumber(a: Rational): number {
  const [top, bottom] = [Number(a.numerator), Number(a.denominator)]
  if (Number.isFinite(top) && Number.isFinite(bottom)) return top / bottom
  // Both parts are shifted by the same power of two; 1,000 bits are left for full precision.
  const shift = BigInt(Math.max(0, Math.min(bits(a.numerator), bits(a.denominator)) - 1_000))
  return Number(a.numerator >> shift) / Number(a.denominator >> shift)
}

/** Parses `12`, `-0.5`, `.5`, `3.`: digits with at most one point and a sign. */
export function parseDecimal(text: string): Rational | undefined {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(text)
  if (match === null || text.length > 2_000) return undefined
  const [, sign = '', whole = '', fraction = ''] = match
  if (whole === '' && fraction === '') return undefined
  const digits = BigInt(whole + fraction)
  return rational(sign === '-' ? -digits : digits, 10n ** BigInt(fraction.length))
}

/** The exact root of a fraction, such as 3/2 for the square root of 9/4; undefined if there is none. */
export function exactRoot(a: Rational, degree: number): Rational | undefined {
  if (a.numerator < 0n) {
    if (degree % 2 === 0) return undefined
    const root = exactRoot(negate(a), degree)
    return root === undefined ? undefined : negate(root)
  }
  const top = wholeRoot(a.numerator, degree)
  const bottom = wholeRoot(a.denominator, degree)
  return top === undefined || bottom === undefined ? undefined : rational(top, bottom)
}

function wholeRoot(value: bigint, degree: number): bigint | undefined {
  if (value < 2n) return value
  const size = bits(value)
  if (degree < 2 || degree > 64 || size > 4_000) return undefined
  const exponent = BigInt(degree)
  let guess = 1n << BigInt(Math.ceil(size / degree) + 1)
  // Newton's method from above decreases strictly until it passes the root.
  for (;;) {
    const next = ((exponent - 1n) * guess + value / guess ** (exponent - 1n)) / exponent
    if (next >= guess) break
    guess = next
  }
  return guess ** exponent === value ? guess : undefined
}
