import { codeRanges, overlapping } from './code-ranges.ts'

/** A rule that is ready to use. */
export interface CompiledRule {
  name: string
  pattern: RegExp
  replacement: string
  wrapper: boolean
  /** A cheap test that every text with a match passes. */
  hint?: RegExp
}

export interface Rewritten {
  text: string
  /** How often each rule changed something. */
  rules: Map<string, number>
  /** What each rule changed, up to three texts as they were. */
  examples: Map<string, string[]>
  /** Matches that were left alone, because a number would have changed. */
  left: number
}

/** Applies rules one after another, each to the whole text. Code is never changed, and neither are numbers. */
export function rewrite(text: string, rules: readonly CompiledRule[], names: RegExp | undefined): Rewritten {
  const result: Rewritten = { text, rules: new Map(), examples: new Map(), left: 0 }
  for (const rule of rules) applyRule(rule, result, names)
  return result
}

function applyRule(rule: CompiledRule, result: Rewritten, names: RegExp | undefined): void {
  const { text } = result
  if (rule.hint !== undefined && text.search(rule.hint) === -1) return
  if (text.search(rule.pattern) === -1) return
  const isCode = overlapping(codeRanges(text))
  const output = new Output(text)
  let times = 0
  const changed: string[] = []
  for (const match of text.matchAll(rule.pattern)) {
    const start = match.index
    const end = start + match[0].length
    if (start < output.at || end === start || isCode(start, end)) continue
    const replacement = rule.replacement.replace(/\$(\d)/g, (_, group) => match[Number(group)] ?? '')
    if (!rule.wrapper && numbersIn(match[0], names) !== numbersIn(replacement, names)) result.left++
    else if (!output.replace(start, end, replacement)) result.left++
    else {
      times++
      if (changed.length < EXAMPLES) changed.push(match[0].trim().slice(0, LONGEST))
    }
  }
  if (times === 0) return
  const rewritten = output.finish()
  // Without the line break between them, two stray backticks would enclose code.
  if (codeIn(rewritten) !== codeIn(text)) {
    result.left += times
    return
  }
  result.text = rewritten
  result.rules.set(rule.name, (result.rules.get(rule.name) ?? 0) + times)
  addExamples(result.examples, rule.name, changed)
}

const EXAMPLES = 3
/** Characters of an example. */
const LONGEST = 200

/** Keeps the first three different examples of a rule. */
export function addExamples(known: Map<string, string[]>, rule: string, texts: readonly string[]): void {
  known.set(rule, [...new Set([...(known.get(rule) ?? []), ...texts])].slice(0, EXAMPLES))
}

const codeIn = (text: string): string =>
  codeRanges(text)
    .map(({ start, end }) => text.slice(start, end))
    .join('\n')

/** Digits of a text, apart from those of names such as `solver_2`. */
function numbersIn(text: string, names: RegExp | undefined): string {
  const own = names === undefined ? text : text.replace(names, '')
  return (own.match(/\p{N}+/gu) ?? []).join(' ')
}

/** Builds a text with some of its parts replaced, and repairs spaces and capitals where something was cut. */
class Output {
  readonly #text: string
  /** Joined at the end: looking at the end of a string that grows would take quadratic time. */
  readonly #parts: string[] = []
  at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** False if two numbers would become one. */
  replace(start: number, end: number, replacement: string): boolean {
    const before = this.#before(start)
    const after = this.#text.slice(end, end + 40)
    if (replacement === '' && /\p{N}$/u.test(before) && /^\p{N}/u.test(after)) return false
    const wasCapital = /^[^\p{L}\n]{0,8}\p{Lu}/u.test(this.#text.slice(start, end)) && START.test(before)
    if (replacement !== '') {
      this.#push(this.#text.slice(this.at, start))
      this.#push(wasCapital ? capitalized(replacement) : replacement)
      this.at = end
    } else this.#cut(start, end, before, wasCapital)
    return true
  }

  /** The last characters before a position, as they are now. */
  #before(start: number): string {
    const own = this.#text.slice(Math.max(this.at, start - TAIL), start)
    if (own.length === TAIL || this.at === 0) return own
    let tail = ''
    for (let at = this.#parts.length - 1; at >= 0 && tail.length < TAIL; at--) tail = this.#parts[at]! + tail
    return (tail + own).slice(-TAIL)
  }

  #cut(start: number, end: number, before: string, wasCapital: boolean): void {
    const text = this.#text
    const startsLine = before === '' || before.endsWith('\n')
    let next = end
    if ((startsLine || before.endsWith(' ')) && text[next] === ' ') next++
    const endsLine = next >= text.length || text[next] === '\n'
    const spare = endsLine && start > this.at && text[start - 1] === ' ' ? 1 : 0
    this.#push(text.slice(this.at, start - spare))
    // A line that is empty now goes as a whole.
    if (startsLine && text[next] === '\n') next++
    // "x = 3" and "print(…)" start with what is not a word.
    if (wasCapital && WORD.test(text.slice(next, next + 40))) {
      this.#push(text[next]!.toUpperCase())
      next++
    }
    this.at = next
  }

  /** Empty parts would only slow down looking back. */
  #push(part: string): void {
    if (part !== '') this.#parts.push(part)
  }

  finish(): string {
    return this.#parts.join('') + this.#text.slice(this.at)
  }
}

/** Enough to see where a sentence starts. */
const TAIL = 8
/** The end of a text after which a sentence starts. */
const START = /(?:^|[\n.!?:] ?|[-*] |\d[.)] )[*"'(]{0,3}$/
/** A word that may be written with a capital. */
const WORD = /^(?:[ai]|[a-z]{2,})[ ,-]/

const capitalized = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)
