/** The letter, if the gold answer is an option of a multiple-choice question. */
export function choiceLetter(gold: string): string | undefined {
  return /^[«(\s]*([A-J])[)»\s.]*$/.exec(gold)?.[1]
}

/** The letter an answer names: at its start, alone, or after "the answer is" near the end of the text. */
export function namedChoice(answer: string, text: string): string | undefined {
  const plain = plainText(answer)
  return namesSeveral(plain) ? 'several' : (letterIn(plain) ?? announcedLetter(text.slice(-2_000)))
}

function plainText(answer: string): string {
  return answer
    .replace(/\\(?:text|textbf|mathrm|mathbf|mbox|textrm)\s*\{([^{}]*)\}/g, '$1')
    .replace(/[$*\\{}«»"'`]/g, ' ')
    .trim()
}

function letterIn(plain: string): string | undefined {
  const leading = /^(?:\(([A-J])\)|([A-J])(?:[).:]|\s*$|\s+(?=[\d(])))/.exec(plain)
  if (leading !== null) return leading[1] ?? leading[2]
  const lower = /^\(?([a-j])\)?[.:]?$/.exec(plain)?.[1]
  if (lower !== undefined) return lower.toUpperCase()
  const closing = /\b(?:is|be|option|choice)\s*:?\s*\(?([A-J])\)?[.\s]*$/.exec(plain)?.[1]
  if (closing !== undefined) return closing
  // A letter in a formula or a longer sentence is not a choice, and neither is `A` before a word.
  if (/[=+<>]|\b(?:except|not|neither)\b/i.test(plain) || plain.length > 60) return undefined
  const letters = [...plain.matchAll(/(?<![\w'-])([A-J])(?![\w'-])(?!\s+(?!and\b|or\b)[a-z])/g)].map(
    (match) => match[1],
  )
  return new Set(letters).size === 1 ? letters[0] : undefined
}

/** (A), (C) and (E), `A and b` or ACE: not a single choice. */
function namesSeveral(plain: string): boolean {
  const bracketed = new Set([...plain.matchAll(/\(\s*([A-J])\s*\)/g)].map((match) => match[1]))
  return (
    bracketed.size > 1 ||
    /^\(?[A-Ja-j]\)?(?:(?:\s*,\s*|\s*->\s*|\s+(?:and|or)\s+)(?:and\s+|or\s+)?\(?[A-Ja-j]\)?)+\.?$/.test(
      plain,
    ) ||
    /^[A-HJ]{2,}$/.test(plain)
  )
}

/**
 * After "the answer is": a letter in parentheses or at the end of its sentence; "A cycloid" and "A, C" do not count.
 */
function announcedLetter(text: string): string | undefined {
  const plain = text.replace(/\\(?:text|textbf|mathrm|boxed)\s*\{|[$*{}\\]/g, ' ')
  const announced =
    /\banswer\s*(?:is|:)\s*:?\s*(?:option\s+|choice\s+)?(?:\(\s*([A-J])\s*\)|([A-J])(?=\s*(?:[.:)]|\n|$)))(?!\s*(?:,|and\b|or\b|->))/gi
  const last = [...plain.matchAll(announced)].at(-1)
  return (last?.[1] ?? last?.[2])?.toUpperCase()
}

/** The text of an option in the question. */
export function optionText(question: string, letter: string): string | undefined {
  const next = String.fromCharCode(letter.charCodeAt(0) + 1)
  const options = question.slice(-4_000)
  const start = options.search(new RegExp(`(?<![A-Za-z])\\(?${letter}[).:]`))
  if (start < 0) return undefined
  const rest = options.slice(start).replace(/^\(?[A-J][).:]\s*/, '')
  const end = rest.search(new RegExp(`[\\s,;]\\(?${next}[).:]|\n`))
  return (end < 0 ? rest : rest.slice(0, end)).trim()
}
