/**
 * Characters as a constraint sees them: each of ASCII by its code, all others as one of two, because no rule of a
 * grammar tells them further apart.
 */
const WIDE = 128
const WIDE_SPACE = 129
export const SYMBOLS = 130

/** A character that is only part of one: half a surrogate pair cannot be sampled, and counts as any other. */
export function symbolOf(codePoint: number): number {
  if (codePoint < 128) return codePoint
  return String.fromCodePoint(codePoint).trim() === '' ? WIDE_SPACE : WIDE
}

/** What `trim` takes away. */
export function isBlank(symbol: number): boolean {
  return symbol === 32 || (symbol >= 9 && symbol <= 13) || symbol === WIDE_SPACE
}
