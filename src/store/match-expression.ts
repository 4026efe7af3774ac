/** Words that nearly every text has: they cost time and rank nothing. */
const common = new Set(
  (
    'a an and are as at be been by did do does for from had has have how i in is it its of on or that the their there ' +
    'these they this those to was were what when where which who whom whose why will with would'
  ).split(' '),
)

const longestQuery = 64

/**
 * A query as people type it, as an FTS5 expression: any of its words, each quoted so that no character of it is an
 * operator. Common words are left out unless there is nothing else. Null when there is no word at all.
 */
export function matchExpression(query: string): string | null {
  const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? [])]
  const telling = words.filter((word) => !common.has(word))
  const used = (telling.length > 0 ? telling : words).slice(0, longestQuery)
  return used.length === 0 ? null : used.map((word) => `"${word}"`).join(' OR ')
}
