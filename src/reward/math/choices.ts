/** The letter when the gold is a choice of a multiple-choice question. */
export function choiceLetter(gold: string): string | undefined {
  return /^[«(\s]*([A-J])[)»\s.]*$/.exec(gold)?.[1]
}

/** Whether an answer names the choice: by its letter, or in the words that the question gives it. */
export function namesChoice(letter: string, answer: string, question: string | undefined): boolean {
  const named = letterIn(answer)
  if (named !== undefined) return named === letter
  const option = question === undefined ? undefined : optionText(question, letter)
  return option !== undefined && plain(option) === plain(answer)
}

function letterIn(answer: string): string | undefined {
  const text = answer
    .replace(/\\(?:text|textbf|mathrm|mathbf|mbox|textrm)\s*\{([^{}]*)\}/g, '$1')
    .replace(/[$*\\{}«»"'`]/g, ' ')
    .trim()
  const leading = /^\(?([A-J])(?:[).:,]|\s*$|\s+(?=[^a-z]))/.exec(text)?.[1]
  if (leading !== undefined) return leading
  const lower = /^\(?([a-j])\)?[.:]?$/.exec(text)?.[1]
  if (lower !== undefined) return lower.toUpperCase()
  // `A` and `I` alone are words; in brackets or after "option" they are letters.
  const marked = [
    ...text.matchAll(
      /\(([A-J])\)|\b(?:option|choice|letter|answer)\s+\(?([A-J])\b|(?<![\w'])([B-HJ])(?![\w'])/g,
    ),
  ]
  const letters = new Set(marked.map((match) => match[1] ?? match[2] ?? match[3]))
  return letters.size === 1 ? [...letters][0] : undefined
}

function optionText(question: string, letter: string): string | undefined {
  const next = String.fromCharCode(letter.charCodeAt(0) + 1)
  const options = question.slice(-4_000)
  const start = options.search(new RegExp(`(?<![A-Za-z])\\(?${letter}[).:]`))
  if (start < 0) return undefined
  const rest = options.slice(start).replace(/^\(?[A-J][).:]\s*/, '')
  const end = rest.search(new RegExp(`[\\s,;]\\(?${next}[).:]|\n`))
  return (end < 0 ? rest : rest.slice(0, end)).trim()
}

const plain = (text: string): string => text.toLowerCase().replace(/[\s$,.]+/g, '')
