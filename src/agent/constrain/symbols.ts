/**
 * The alphabet of the automaton: each ASCII character by its code, all others as one of two symbols, because no rule
 * of a grammar distinguishes them further.
 */
const WIDE = 128
const WIDE_SPACE = 129
export const SYMBOLS = 130

/** Lone surrogates cannot be sampled and count as any other character. */
export function symbolOf(codePoint: number): number {
  if (codePoint < 128) return codePoint
  return String.fromCodePoint(codePoint).trim() === '' ? WIDE_SPACE : WIDE
}

/** What `trim` removes. */
export function isBlank(symbol: number): boolean {
  return symbol === 32 || (symbol >= 9 && symbol <= 13) || symbol === WIDE_SPACE
}
