/** A complex number with a first-order bound on its absolute rounding error. */
export interface Complex {
  re: number
  im: number
  error: number
}

const epsilon = 2 ** -52

export const size = (a: Complex): number => Math.hypot(a.re, a.im)
export const real = (re: number, error = Math.abs(re) * epsilon): Complex => ({ re, im: 0, error })
export const undefinedValue: Complex = { re: Number.NaN, im: Number.NaN, error: Number.NaN }
export const isDefined = (a: Complex): boolean =>
  Number.isFinite(a.re) && Number.isFinite(a.im) && Number.isFinite(a.error)
/** Whether it could be zero within its error bound. */
export const mayBeZero = (a: Complex): boolean => size(a) <= 2 * a.error

/** Every operation adds its own rounding error to the propagated ones. */
const rounded = (re: number, im: number, error: number): Complex => ({
  re,
  im,
  error: error + 4 * epsilon * Math.hypot(re, im),
})

export const add = (a: Complex, b: Complex): Complex => rounded(a.re + b.re, a.im + b.im, a.error + b.error)
export const negate = (a: Complex): Complex => ({ re: -a.re, im: -a.im, error: a.error })

export const multiply = (a: Complex, b: Complex): Complex =>
  rounded(
    a.re * b.re - a.im * b.im,
    a.re * b.im + a.im * b.re,
    size(a) * b.error + size(b) * a.error + a.error * b.error,
  )

export function divide(a: Complex, b: Complex): Complex {
  if (mayBeZero(b)) return undefinedValue
  const square = b.re * b.re + b.im * b.im
  const re = (a.re * b.re + a.im * b.im) / square
  const im = (a.im * b.re - a.re * b.im) / square
  return rounded(re, im, (a.error + Math.hypot(re, im) * b.error) / (size(b) - b.error))
}

export function exponential(a: Complex): Complex {
  const scale = Math.exp(a.re)
  return rounded(scale * Math.cos(a.im), scale * Math.sin(a.im), scale * (a.error + size(a) * epsilon))
}

export function logarithm(a: Complex): Complex {
  if (mayBeZero(a)) return undefinedValue
  // On the branch cut along the negative axis, a tiny rounding error would flip the result.
  if (a.re < 0 && a.im !== 0 && Math.abs(a.im) <= 2 * a.error) return undefinedValue
  return rounded(Math.log(size(a)), Math.atan2(a.im, a.re), a.error / size(a) + epsilon)
}

export function power(base: Complex, exponent: Complex): Complex {
  const whole =
    exponent.im === 0 && Number.isInteger(exponent.re) && exponent.error <= Math.abs(exponent.re) * 1e-15
  if (whole && Math.abs(exponent.re) <= 1_000) return wholePower(base, exponent.re)
  if (mayBeZero(base)) return undefinedValue
  // (-8)^{1/3} is -2 in school and complex elsewhere: only square roots are unambiguous.
  const isOpen = base.im === 0 && base.re < 0 && exponent.im === 0 && !Number.isInteger(2 * exponent.re)
  if (isOpen) return undefinedValue
  const result = exponential(multiply(exponent, logarithm(base)))
  // A positive real base has a real power: without this, rounding would leave a tiny imaginary part.
  return base.im === 0 && base.re > 0 && exponent.im === 0 ? { ...result, im: 0 } : result
}

function wholePower(base: Complex, exponent: number): Complex {
  if (exponent === 0) return mayBeZero(base) ? undefinedValue : real(1)
  let result = real(1, 0)
  let square = base
  for (let rest = Math.abs(exponent); rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = multiply(result, square)
    square = multiply(square, square)
  }
  return exponent < 0 ? divide(real(1, 0), result) : result
}

export function sine(a: Complex): Complex {
  const slope = Math.hypot(Math.cos(a.re) * Math.cosh(a.im), Math.sin(a.re) * Math.sinh(a.im))
  return rounded(
    Math.sin(a.re) * Math.cosh(a.im),
    Math.cos(a.re) * Math.sinh(a.im),
    (slope + a.error) * (a.error + size(a) * epsilon),
  )
}

export const cosine = (a: Complex): Complex => sine(add(real(Math.PI / 2), negate(a)))
