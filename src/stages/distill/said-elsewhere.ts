/** A tag with its attributes or a fence with its language, as replies have them around their parts. */
const MARKUP = /<\/?[A-Za-z_|][^<>\n]{0,200}>|(?:```|~~~)[\w+#.-]{0,20}/g
const WORD = /[\p{L}\p{N}]+/gu

/** Keys of calls and labels of replies: they say what a part is and are no text of their own. */
const labels = new Set(
  (
    'name arguments parameters input inputs args tool tool_name function type call id action thought final answer json ' +
    'python py text'
  ).split(' '),
)

/**
 * Tells whether a text has words that none of the given texts has. The given texts are looked for as a whole first,
 * because two parts of a reply may well use the same words.
 */
export function saysMore(text: string, given: readonly string[]): boolean {
  let rest = text
  for (const part of [...given].sort((left, right) => right.length - left.length)) {
    const known = part.trim()
    if (known !== '' && rest.includes(known)) rest = rest.replace(known, () => '\n')
  }
  const words = rest.replace(MARKUP, ' ').match(WORD)
  if (words === null) return false
  const known = new Set(given.flatMap((part) => part.match(WORD) ?? []))
  return words.some((word) => !known.has(word) && !labels.has(word.toLowerCase()))
}

/** The texts of a value, and the value as JSON, in which line breaks and quotes are written differently. */
export function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return [String(value)]
  return [JSON.stringify(value), ...Object.values(value).flatMap(textsIn)]
}
