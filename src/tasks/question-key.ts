/**
 * Questions with the same key count as the same: case, white space and final punctuation are ignored. Other symbols
 * matter, because 5 + 3 and 5 - 3 are different questions.
 */
export function questionKey(question: string): string {
  return question
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[‘’]/g, "'")
    .replaceAll(/[“”]/g, '"')
    .split(/\s+/)
    .filter((word) => word !== '')
    .join(' ')
    .replace(/[ .?!]{1,9}$/, '')
}
