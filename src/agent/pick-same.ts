import type { Grammar } from '../language/grammar/index.ts'
import { finalAnswer, normalizeText } from '../reward/index.ts'

/** Signs that the usual normalisation drops, and without which x + 1 and x / 1 would be the same. */
const formula = /[\\^=+*/<>{}_]|\d\s*[-\u2212]|[\p{L})]\s*[-\u2212]\s*\d/u

/**
 * What two answers share when they say the same. Where that is not sure they are kept apart: two answers that are
 * wrongly counted as one could outvote the right one.
 */
export function answerKey(answer: string, syntax: Grammar['answer']['payload']['syntax'] = 'text'): string {
  const text = answer.trim()
  if (syntax === 'code' || syntax === 'json') return text
  if (syntax === 'list')
    return [...new Set(text.split('|').map((item) => plainKey(item.trim())))].sort().join('|')
  return plainKey(text)
}

function plainKey(text: string): string {
  const bare = finalAnswer(text).replace(/\.$/, '')
  if (!formula.test(bare)) return normalizeText(bare) || bare
  return bare.normalize('NFKC').replaceAll('\u2212', '-').replaceAll(/\s+/g, '')
}
