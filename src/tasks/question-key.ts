/**
 * What two questions must share to count as the same: letters, digits and signs, whatever the case, the white space and
 * the mark at the end. Signs stay, because 5 + 3 and 5 - 3 are different questions.
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
