const small = (
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen ' +
  'eighteen nineteen'
).split(' ')
const tens = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')
const scales: Record<string, number> = {
  hundred: 100,
  thousand: 1_000,
  million: 1_000_000,
  billion: 1_000_000_000,
  trillion: 1_000_000_000_000,
}
const word = `(?:${[...small, ...tens, ...Object.keys(scales)].join('|')})`
const phrase = new RegExp(`(?<![\\w-])${word}(?:(?:[\\s-]+|\\s+and\\s+)${word})*(?![\\w-])`, 'gi')

/** Converts `twenty-five` and `three hundred and five` to digits; leaves everything else unchanged. */
export function wordsToDigits(text: string): string {
  return text.replace(phrase, (found) => numeralOf(found) ?? found)
}

function numeralOf(found: string): string | undefined {
  let [total, group] = [0, 0]
  for (const part of found.toLowerCase().split(/[\s-]+/)) {
    const unit = small.indexOf(part)
    const ten = tens.indexOf(part)
    const scale = scales[part]
    if (part === 'and') continue
    if (unit >= 0) group += unit
    else if (ten >= 0) group += 20 + 10 * ten
    else if (scale === 100) group = (group || 1) * 100
    else if (scale !== undefined) {
      total += (group || 1) * scale
      group = 0
    } else return undefined
  }
  return String(total + group)
}

/** The factor of a word after a number: 5 million, 3 dozen. */
export const scaleOf = (name: string): number | undefined =>
  scales[name] ?? (name === 'dozen' ? 12 : undefined)
