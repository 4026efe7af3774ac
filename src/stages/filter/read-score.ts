/** Scores range from 1 to 4, as the grammars specify. */
const HIGHEST = 4

const label = String.raw`\b(?:scored?|rating|rated)\b`
const number = String.raw`(\d+(?:\.\d+)?)`
const scale = String.raw`\s*(?:/|out of)\s*(\d+)`
/** "1 to 4" and "1-4" name the scale; "2/4/2021" is a date. */
const ends = String.raw`(?![\d/]|\s*(?:to|-|–)\s*\d)`

/** From the most explicit form to the vaguest. No other number may come between the word and the score. */
const forms = [
  // "Score: 2", "The score this time is:4", "**Score (1-4):** 3"
  new RegExp(
    String.raw`${label}(?:[^\d\n:=(]|\([^)\n]{0,20}\)){0,40}[:=][\s*_]{0,5}${number}(?:${scale})?${ends}`,
    'gi',
  ),
  // "2/4", "3 out of 4"
  new RegExp(String.raw`(?<![\d/.])${number}${scale}${ends}`, 'gi'),
  // "a score of 3", "I score it 2"
  new RegExp(String.raw`${label}[^\d\n]{0,25}?\b${number}(?:${scale})?${ends}`, 'gi'),
]

/**
 * The score that a check gives; undefined if there is none on our scale. Of several in the most explicit form, the
 * last one counts, because the conclusion comes last.
 */
export function readScore(text: string): number | undefined {
  for (const form of forms) {
    const found = [...text.matchAll(form)].map(toScore).findLast((score) => score !== undefined)
    if (found !== undefined) return found
  }
  return undefined
}

function toScore([, digits, highest]: RegExpMatchArray): number | undefined {
  const score = Number(digits)
  const onOurScale = highest === undefined || Number(highest) === HIGHEST
  return onOurScale && score >= 1 && score <= HIGHEST ? score : undefined
}
