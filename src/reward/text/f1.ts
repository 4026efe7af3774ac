import { normalizeText } from './normalize.ts'

/** F1 of the word overlap between gold and answer, counting repetitions. */
export function tokenF1(gold: string, answer: string): number {
  const [wanted, given] = [wordsOf(gold), wordsOf(answer)]
  if (wanted.length === 0 || given.length === 0) return wanted.length === given.length ? 1 : 0
  const left = new Map<string, number>()
  for (const word of wanted) left.set(word, (left.get(word) ?? 0) + 1)
  let common = 0
  for (const word of given) {
    const count = left.get(word) ?? 0
    if (count > 0) common++
    left.set(word, count - 1)
  }
  if (common === 0) return 0
  const [precision, recall] = [common / given.length, common / wanted.length]
  return (2 * precision * recall) / (precision + recall)
}

const wordsOf = (text: string): string[] => normalizeText(text).split(' ').filter(Boolean)
