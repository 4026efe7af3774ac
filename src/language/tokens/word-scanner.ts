/**
 * Hand-written word scanners for the patterns that most tokenizers share. A regex with Unicode classes takes most of
 * the encoding time; a table of classes gives the same words several times faster. Other patterns use the regex.
 */

/** The differences between the supported patterns. */
interface WordRules {
  /** Whether contractions such as 's and 'll are case-insensitive. */
  anyCase: boolean
  /** The character before letters that belongs to their word. */
  prefix: 'space' | 'any'
  /** Maximum number of digits per word, and whether a preceding space belongs to it. */
  digits: { most: number; spaced: boolean }
  /** Whether newlines belong to the preceding symbols, and a run of whitespace ends at its last newline. */
  lines: boolean
}

export const gpt2Pattern =
  "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
const later = (digits: string): string =>
  `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`
const laterRules = (most: number): WordRules => {
  return { anyCase: true, prefix: 'any', digits: { most, spaced: false }, lines: true }
}

const knownPatterns = new Map<string, WordRules>([
  [
    gpt2Pattern,
    {
      anyCase: false,
      prefix: 'space',
      digits: { most: Number.POSITIVE_INFINITY, spaced: true },
      lines: false,
    },
  ],
  // Qwen 2 and 3, Llama 3.
  [later('\\p{N}'), laterRules(1)],
  [later('\\p{N}{1,3}'), laterRules(3)],
])

/** The end of the word that starts at a position of a text, given as UTF-16 units. */
export type WordScanner = (text: Uint16Array, start: number) => number

/** The scanner for a pattern; undefined if only the regex supports it. */
export function wordScanner(pattern: string): WordScanner | undefined {
  const rules = knownPatterns.get(pattern)
  if (rules === undefined) return undefined
  const classes = characterClasses()
  return (text, start) => wordEnd(text, start, rules, classes)
}

const other = 0
const letter = 1
const digit = 2
const space = 3
/** Newline characters. */
const lineBreak = 4
/** Past the end of the text. */
const none = 5

const apostrophe = 39

let table: Uint8Array | undefined

/** The class of every character in the basic plane, from the Unicode properties used in the patterns. */
function characterClasses(): Uint8Array {
  if (table !== undefined) return table
  table = new Uint8Array(0x10000)
  for (let unit = 0; unit < table.length; unit++) table[unit] = classOf(String.fromCharCode(unit))
  return table
}

function classOf(character: string): number {
  if (/\p{L}/u.test(character)) return letter
  if (/\p{N}/u.test(character)) return digit
  if (character === '\r' || character === '\n') return lineBreak
  return /\p{White_Space}/u.test(character) ? space : other
}

function wordEnd(text: Uint16Array, start: number, rules: WordRules, classes: Uint8Array): number {
  const unit = text[start]!
  const kind = kindAt(text, start, classes)
  if (kind === letter) return runEnd(text, start, letter, classes)
  if (unit === apostrophe) {
    const end = contractionEnd(text, start, rules.anyCase)
    if (end > 0) return end
  }
  const next = start + widthAt(text, start)
  const nextKind = kindAt(text, next, classes)
  const isSpace = unit === 32
  if (nextKind === letter && (isSpace || (rules.prefix === 'any' && kind !== digit && kind !== lineBreak)))
    return runEnd(text, next, letter, classes)
  if (kind === digit || (isSpace && rules.digits.spaced && nextKind === digit)) {
    let end = kind === digit ? start : next
    for (let count = 0; count < rules.digits.most && kindAt(text, end, classes) === digit; count++)
      end += widthAt(text, end)
    return end
  }
  if (kind === other || (isSpace && nextKind === other)) {
    const end = runEnd(text, next, other, classes)
    return rules.lines ? runEnd(text, end, lineBreak, classes) : end
  }
  return whiteSpaceEnd(text, start, rules, classes)
}

function kindAt(text: Uint16Array, position: number, classes: Uint8Array): number {
  if (position >= text.length) return none
  const unit = text[position]!
  return unit >= 0xd800 && unit < 0xdc00
    ? classOf(String.fromCharCode(unit, text[position + 1]!))
    : classes[unit]!
}

function widthAt(text: Uint16Array, position: number): number {
  const unit = text[position]!
  return unit >= 0xd800 && unit < 0xdc00 ? 2 : 1
}

function runEnd(text: Uint16Array, from: number, kind: number, classes: Uint8Array): number {
  let end = from
  while (kindAt(text, end, classes) === kind) end += widthAt(text, end)
  return end
}

/** The end of a run of whitespace: after its last newline, or before its last character if a word follows. */
function whiteSpaceEnd(text: Uint16Array, start: number, rules: WordRules, classes: Uint8Array): number {
  let end = start
  let afterBreak = -1
  for (; ; end++) {
    const kind = kindAt(text, end, classes)
    if (kind === lineBreak) afterBreak = end + 1
    else if (kind !== space) break
  }
  if (rules.lines && afterBreak !== -1) return afterBreak
  return end < text.length && end - start > 1 ? end - 1 : end
}

/** The end of 's, 't, 're, 've, 'm, 'll or 'd; 0 if there is none. */
function contractionEnd(text: Uint16Array, start: number, anyCase: boolean): number {
  const letterAt = (position: number): string => {
    const letter = position < text.length ? String.fromCharCode(text[position]!) : ''
    return anyCase ? letter.toLowerCase() : letter
  }
  const first = letterAt(start + 1)
  if (first === 's' || first === 't' || first === 'm' || first === 'd') return start + 2
  const both = first + letterAt(start + 2)
  return both === 're' || both === 've' || both === 'll' ? start + 3 : 0
}
