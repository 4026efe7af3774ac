import { stemmer } from 'stemmer'

/** Words that nearly every text has: in a query they cost time and rank nothing. */
const common = new Set(
  (
    'a an and are as at be been by did do does for from had has have how i in is it its of on or that the their there ' +
    'these they this those to was were what when where which who whom whose why will with would'
  ).split(' '),
)

const longestQuery = 64
const longestWord = 64

/** The form a word is looked up in: "lighthouses" and "lighthouse" are the same. */
export function stemOf(word: string): string {
  return stemmer(word.length > longestWord ? word.slice(0, longestWord) : word)
}

/** The words of a text in lower case, without accents. */
export function plainWords(text: string): string[] {
  const ascii = /^[\0-\x7f]*$/.test(text)
  const lower = ascii ? text.toLowerCase() : text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  return lower.match(ascii ? /[a-z0-9]+/g : /[\p{L}\p{N}]+/gu) ?? []
}

/** The different words of a query, as people type it. Common words are left out unless there is nothing else. */
export function queryWords(query: string): string[] {
  const words = plainWords(query)
  const telling = words.filter((word) => !common.has(word))
  return [...new Set((telling.length > 0 ? telling : words).map(stemOf))].slice(0, longestQuery)
}
