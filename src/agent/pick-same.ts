import type { Grammar } from '../language/grammar/index.ts'
import { finalAnswer, normalizeText } from '../reward/index.ts'

/** Symbols that the usual normalization drops, and without which x + 1 and x / 1 would be equal. */
const formula = /[\\^=+*/<>{}_]|\d\s*[-\u2212]|[\p{L})]\s*[-\u2212]\s*\d/u

/**
 * A key that is equal for equivalent answers. Doubtful cases are kept apart: two answers wrongly counted as one could
 * outvote the correct one.
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
