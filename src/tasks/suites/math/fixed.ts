/**
 * Exact fixed-point amounts: thousandths in a bigint. Three decimals are enough for cents, liters and kilograms; a result
 * that would need more is rejected instead of rounded, so there are no floating-point errors.
 */
const one = 1000n

export const whole = (value: number): bigint => BigInt(value) * one
export const cents = (value: number): bigint => BigInt(value) * 10n
export const isWhole = (value: bigint): boolean => value % one === 0n
export const isCents = (value: bigint): boolean => value % 10n === 0n

/** Only for amounts that are whole. */
export const toNumber = (value: bigint): number => Number(value / one)

export function multiply(left: bigint, right: bigint): bigint | undefined {
  const product = left * right
  return product % one === 0n ? product / one : undefined
}

export function divide(left: bigint, right: bigint): bigint | undefined {
  if (right === 0n) return undefined
  const scaled = left * one
  return scaled % right === 0n ? scaled / right : undefined
}

/** Integer division; both operands are positive here. */
export const divideDown = (left: bigint, right: bigint): bigint | undefined =>
  right === 0n ? undefined : (left / right) * one

/** Shortest decimal notation: 12, 12.5, 0.375. */
export function plain(value: bigint): string {
  const sign = value < 0n ? '-' : ''
  const size = value < 0n ? -value : value
  const decimals = String(size % one)
    .padStart(3, '0')
    .replace(/0+$/, '')
  return `${sign}${size / one}${decimals === '' ? '' : `.${decimals}`}`
}

/** Money always shows its cents. */
export function withCents(value: bigint): string {
  const [units = '0', decimals = ''] = plain(value).split('.')
  return `${units}.${decimals.padEnd(2, '0')}`
}

export const withSeparators = (digits: string): string =>
  digits.replace(/^\d+/, (units) => units.replace(/\B(?=(?:\d{3})+$)/g, ','))
