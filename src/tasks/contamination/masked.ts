/**
 * A question without what a paraphrase changes first: numbers become #, names @, and pronouns one word, because another
 * name may need another pronoun. A word with a capital letter counts as a name, also at the start of a sentence: both
 * sides of a comparison are masked in the same way.
 */
export function masked(question: string): { text: string; quantities: number; words: number } {
  const words: string[] = []
  for (const [token] of question.normalize('NFKC').matchAll(TOKEN)) {
    const word = wordFor(token)
    // "Mary Ann" and "Zoe", or "two dozen" and "30", are one name and one number.
    if ((word === '#' || word === '@') && words.at(-1) === word) continue
    words.push(word)
  }
  const quantities = words.filter((word) => word === '#').length
  const names = words.filter((word) => word === '@').length
  return { text: words.join(' '), quantities, words: words.length - quantities - names }
}

/** A number with its separators, a word, or a symbol of arithmetic; a hyphen joins two words. */
const TOKEN = /\p{N}[\p{N}.,:/]*|\p{L}[\p{L}\p{M}'’]*|[+*=<>^%]|(?<!\p{L})-/gu

function wordFor(token: string): string {
  if (/^\p{N}/u.test(token)) return '#'
  const word = token.replace(/['’]s?$/u, '')
  const lower = word.toLowerCase()
  if (numberWords.has(lower)) return '#'
  if (pronouns.has(lower)) return 'they'
  if (lower !== word) return '@'
  // Another number may turn a singular into a plural.
  return lower.length > 3 ? lower.replace(/s$/, '') : lower
}

const numberWords = new Set(
  (
    'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen ' +
    'eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred hundreds thousand thousands million ' +
    'millions billion half halves third thirds quarter quarters fourth fourths fifth fifths sixth sixths seventh eighth ' +
    'eighths ninth tenth tenths first second once twice thrice double triple quadruple dozen dozens couple single'
  ).split(' '),
)

const pronouns = new Set(
  'he she they him her them his hers their theirs himself herself themselves'.split(' '),
)
