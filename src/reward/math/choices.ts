/** The letter when the gold is a choice of a multiple-choice question. */
export function choiceLetter(gold: string): string | undefined {
  return /^[«(\s]*([A-J])[)»\s.]*$/.exec(gold)?.[1]
}

/** The letter an answer names: at its beginning, alone in it, or after "the answer is" anywhere near the end of the text. */
export function namedChoice(answer: string, text: string): string | undefined {
  return letterIn(answer) ?? announcedLetter(text.slice(-2_000))
}

function letterIn(answer: string): string | undefined {
  const plain = answer
    .replace(/\\(?:text|textbf|mathrm|mathbf|mbox|textrm)\s*\{([^{}]*)\}/g, '$1')
    .replace(/[$*\\{}«»"'`]/g, ' ')
    .trim()
  const leading = /^(?:\(([A-J])\)|([A-J])(?:[).:]|\s*$|\s+(?=[\d(])))/.exec(plain)
  if (leading !== null) return leading[1] ?? leading[2]
  const lower = /^\(?([a-j])\)?[.:]?$/.exec(plain)?.[1]
  if (lower !== undefined) return lower.toUpperCase()
  const closing = /\b(?:is|be|option|choice)\s*:?\s*\(?([A-J])\)?[.\s]*$/.exec(plain)?.[1]
  if (closing !== undefined) return closing
  // A letter in a formula or in a longer sentence is no choice, and `A` in front of a word is none either.
  if (/[=+<>]|\b(?:except|not|neither)\b/i.test(plain) || plain.length > 60) return undefined
  const letters = [...plain.matchAll(/(?<![\w'-])([A-J])(?![\w'-])(?!\s+(?!and\b|or\b)[a-z])/g)].map(
    (match) => match[1],
  )
  return new Set(letters).size === 1 ? letters[0] : undefined
}

function announcedLetter(text: string): string | undefined {
  const plain = text.replace(/\\(?:text|textbf|mathrm|boxed)\s*\{|[$*{}\\]/g, ' ')
  return [
    ...plain.matchAll(/\b[aA]nswer\s*(?:is|:)\s*:?\s*(?:option|choice)?\s*\(?([A-J])\)?(?![\w'])/gi),
  ].at(-1)?.[1]
}

/** What the question writes after the letter. */
export function optionText(question: string, letter: string): string | undefined {
  const next = String.fromCharCode(letter.charCodeAt(0) + 1)
  const options = question.slice(-4_000)
  const start = options.search(new RegExp(`(?<![A-Za-z])\\(?${letter}[).:]`))
  if (start < 0) return undefined
  const rest = options.slice(start).replace(/^\(?[A-J][).:]\s*/, '')
  const end = rest.search(new RegExp(`[\\s,;]\\(?${next}[).:]|\n`))
  return (end < 0 ? rest : rest.slice(0, end)).trim()
}
