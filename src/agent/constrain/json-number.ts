import type { Shape } from './json-shape.ts'

/** Integers of this many digits are exact; other numbers have up to 21 digits before they need an exponent. */
const MOST_DIGITS = { integer: 15, bounded: 21 }
/** Keeps numbers from overflowing to infinity. */
const MOST_EXPONENT_DIGITS = 2

type Part =
  | 'sign'
  | 'zero'
  | 'whole'
  | 'point'
  | 'fraction'
  | 'exponent'
  | 'exponent-sign'
  | 'exponent-digits'

/** The parser state inside a number. */
export interface NumberText {
  part: Part
  /** Digits of the part, counted if they are bounded. */
  digits: number
}

const isDigit = (character: string): boolean => character >= '0' && character <= '9'

export function beginNumber(character: string): NumberText | undefined {
  if (character === '-') return { part: 'sign', digits: 0 }
  if (character === '0') return { part: 'zero', digits: 1 }
  return isDigit(character) ? { part: 'whole', digits: 1 } : undefined
}

export function isComplete({ part }: NumberText): boolean {
  return part === 'zero' || part === 'whole' || part === 'fraction' || part === 'exponent-digits'
}

/** The number with one more character; undefined if that is not part of it. */
export function continueNumber(
  { part, digits }: NumberText,
  character: string,
  kind: Shape['number'],
): NumberText | undefined {
  const bounded = kind === 'integer' || kind === 'bounded'
  const more = (same: Part, most: number): NumberText | undefined => {
    if (bounded && digits >= most) return undefined
    return { part: same, digits: bounded ? digits + 1 : 1 }
  }
  if (isDigit(character)) {
    switch (part) {
      case 'sign':
        return beginNumber(character)
      case 'whole':
        return more('whole', kind === 'integer' ? MOST_DIGITS.integer : MOST_DIGITS.bounded)
      case 'point':
      case 'fraction':
        return { part: 'fraction', digits: 1 }
      case 'exponent':
      case 'exponent-sign':
        return { part: 'exponent-digits', digits: 1 }
      case 'exponent-digits':
        return more('exponent-digits', MOST_EXPONENT_DIGITS)
      default:
        return undefined
    }
  }
  if (kind === 'integer') return undefined
  if (character === '.') return part === 'zero' || part === 'whole' ? { part: 'point', digits: 0 } : undefined
  if (character === 'e' || character === 'E')
    return isComplete({ part, digits }) && part !== 'exponent-digits'
      ? { part: 'exponent', digits: 0 }
      : undefined
  const signs = (character === '+' || character === '-') && part === 'exponent'
  return signs ? { part: 'exponent-sign', digits: 0 } : undefined
}
