export interface Token {
  type: 'number' | 'name' | 'word' | 'command' | 'symbol'
  text: string
  /** Whether whitespace precedes it: `2 1/2` is a mixed number, `21/2` is not. */
  spaced: boolean
}

/** Names of functions and constants that also work without a backslash. */
const plainCommands = new Set(
  'sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh ln log lg exp sqrt cbrt abs pi infinity infty'.split(
    ' ',
  ),
)

/** Three letters are a product (`abc`) unless they are one of these words. */
const shortWords = new Set(
  (
    'the and for are not all any one two six ten yes non has had was but can may its per day her his she who how ' +
    'odd men ten now cat dog car box red mph sum min max inf nan lbs min hrs sec day mod gcd lcm'
  ).split(' '),
)
const stopWords = new Set('is no of in to it an at by we so he be as on if up do go my us am pm'.split(' '))
const unitNames = new Set('cm mm km kg mg ft yd mi lb oz hr ml hz kw gb mb'.split(' '))

const operators = ['<=', '>=', '!=', '\\\\', '\\{', '\\}']

/**
 * Splits cleaned math into tokens. `grouping` says whether `1,234` outside brackets is one number or two; inside
 * brackets a comma always separates.
 */
export function tokenize(text: string, grouping: boolean): Token[] | undefined {
  const tokens: Token[] = []
  let position = 0
  let depth = 0
  let spaced = false
  const push = (type: Token['type'], content: string, length: number) => {
    tokens.push({ type, text: content, spaced })
    position += length
    spaced = false
  }
  while (position < text.length) {
    const rest = text.slice(position, position + 400)
    const character = rest[0]!
    if (character === ' ') {
      spaced = true
      position++
      continue
    }
    if (tokens.length > 1_500) return undefined
    const operator = operators.find((candidate) => rest.startsWith(candidate))
    const number = numberAt(rest, grouping && depth === 0)
    const command = /^\\([a-zA-Z]+)/.exec(rest)
    const letters = /^[a-zA-Z]+(?:'[a-z]+)?/.exec(rest)
    const words = /^«([^»]*)»/.exec(rest)
    if (operator !== undefined) {
      depth += operator === '\\{' ? 1 : operator === '\\}' ? -1 : 0
      push('symbol', operator, operator.length)
    } else if (number !== undefined) {
      // A number longer than the window would be split.
      if (number.length >= 390) return undefined
      push('number', number.replaceAll(',', ''), number.length)
    } else if (words !== null) push('word', words[1]!.toLowerCase(), words[0].length)
    else if (command !== null) push('command', command[1]!, command[0].length)
    else if (letters !== null) pushLetters(letters[0], push)
    else if (/[+\-*/^_=<>()[\]{}|,;:!%&']/.test(character)) {
      depth += '(['.includes(character) ? 1 : ')]'.includes(character) ? -1 : 0
      push('symbol', character, 1)
    } else return undefined
  }
  return tokens
}

function numberAt(rest: string, grouping: boolean): string | undefined {
  const grouped = grouping ? /^\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?/.exec(rest) : null
  const plain = /^(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,4}(?![\da-zA-Z.]))?/.exec(rest)
  return (grouped ?? plain)?.[0]
}

function pushLetters(
  run: string,
  push: (type: Token['type'], content: string, length: number) => void,
): void {
  const lower = run.toLowerCase()
  if (plainCommands.has(lower)) push('command', lower === 'infinity' ? 'infty' : lower, run.length)
  else if (lower === 'or' || lower === 'and') push('symbol', 'or', run.length)
  else if (isWord(run, lower)) push('word', lower, run.length)
  else for (const letter of run) push('name', letter, 1)
}

function isWord(run: string, lower: string): boolean {
  return (
    run.length > 3 ||
    shortWords.has(lower) ||
    stopWords.has(lower) ||
    unitNames.has(lower) ||
    run.includes("'")
  )
}
