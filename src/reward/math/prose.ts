import type { Opinion } from './algebra.ts'
import { equals, parseDecimal, type Rational } from './rational.ts'

const numberWords =
  /\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|billion|half|third|quarter|dozen|twice|double|none|nothing)\b/i
const turns =
  /\b(?:not|never|no|less|more|fewer|least|most|about|approximately|around|almost|nearly|between|or|than|except|minus|negative|plus|times|from|under|over|up|if|but|per|cents?)\b|n't/i

/**
 * An answer in words beside a gold that is a plain number. One number in a plain sentence is the answer; a sentence
 * without any number, number word or symbol answers with nothing. All else stays open.
 */
export function compareProse(gold: Rational, answer: string): Opinion {
  if (answer.length > 500) return 'unknown'
  const numbers = answer.match(/-?\d+(?:,\d{3})*(?:\.\d+)?/g) ?? []
  const hasNumberWord = numberWords.test(answer)
  if (numbers.length === 0) return hasNumberWord || /[\\π√∞½-¾∅{}^]/.test(answer) ? 'unknown' : 'unequal'
  const words = answer.match(/[a-z]{2,}/gi) ?? []
  // Anything but words and one number may be a calculation that could not be read.
  const isSentence = words.length >= 2 && !/[\\^_=+*/<>(){}[\]|%:]/.test(answer)
  if (numbers.length > 1 || hasNumberWord || turns.test(answer) || !isSentence) return 'unknown'
  const value = parseDecimal(numbers[0]!.replaceAll(',', ''))
  if (value === undefined) return 'unknown'
  return equals(value, gold) ? 'equal' : 'unequal'
}
