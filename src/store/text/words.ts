import { stemmer } from 'stemmer'

/** Stop words: in a query they cost time and do not affect the ranking. */
const stopWords = new Set(
  (
    'a an and are as at be been by did do does for from had has have how i in is it its of on or that the their there ' +
    'these they this those to was were what when where which who whom whose why will with would'
  ).split(' '),
)

const maxQueryWords = 64
const maxWordLength = 64

/** The stem used for lookup: "lighthouses" and "lighthouse" are the same. */
export function stemOf(word: string): string {
  return stemmer(word.length > maxWordLength ? word.slice(0, maxWordLength) : word)
}

/** The words of a text, lower-cased and without accents. */
export function plainWords(text: string): string[] {
  const ascii = /^[\0-\x7f]*$/.test(text)
  const lower = ascii ? text.toLowerCase() : text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  return lower.match(ascii ? /[a-z0-9]+/g : /[\p{L}\p{N}]+/gu) ?? []
}

/** The distinct words of a query. Stop words are dropped unless there is nothing else. */
export function queryWords(query: string): string[] {
  const words = plainWords(query)
  const contentWords = words.filter((word) => !stopWords.has(word))
  return [...new Set((contentWords.length > 0 ? contentWords : words).map(stemOf))].slice(0, maxQueryWords)
}
