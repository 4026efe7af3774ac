import { parseJson } from '../schema/index.ts'
import type { LeftOut } from './left-out.ts'
import { pythonValue } from './python-literal.ts'

/** Why a text is left out that no rule of the format is about. */
export const NOT_READ = 'not read by this format'

/** Shorter single words, such as roles, ids and flags, are not text that anybody wrote, unless their key says so. */
const SHORTEST = 12
/** Fewer words in a row occur in other texts by chance. */
const LEAST_WORDS = 4
/** As many words may be what a format writes before a text, such as "Final Answer:". */
const LONGEST_LABEL = 2
/** Keys of what somebody said, in any format. */
const SAID =
  /(?:^|_|\.)(?:content|text|message|answer|reply|response|output|result|observation|thought|thinking|reasoning|reflection|plan|note|comment|verdict|critique|feedback|summary)(?:\[\d+\])?$/i

/**
 * Text of the source that is in none of the texts that were read. A value that is in one of them as a whole counts as
 * read; otherwise its lines are looked for, and what is found nowhere is returned.
 */
export function unread(source: readonly unknown[], texts: readonly string[], markup?: RegExp): LeftOut[] {
  // A result may be JSON, in whose strings some characters are escaped.
  const found = new Found([...texts, ...texts.flatMap((text) => textsIn(jsonIn(text)))], markup)
  const missed = new Map<string, LeftOut>()
  for (const value of source)
    for (const { at, text } of leaves(value, '')) {
      const lost = found.rest(text)
      if (lost === '') continue
      // Every span of a log repeats some of its fields.
      missed.set(`${general(at)}\0${lost}`, { at, reason: NOT_READ, text: lost })
    }
  return [...missed.values()]
}

const innerText = ({ text }: { text: string }): string => text

/** A path without its indexes: the same field of every message. */
export const general = (at: string): string => at.replace(/\[\d+\]/g, '[]')

class Found {
  readonly #whole: ReadonlySet<string>
  readonly #all: string
  readonly #markup: RegExp | undefined
  /** Logs repeat their texts and words many times. */
  readonly #rests = new Map<string, string>()
  readonly #words = new Map<string, boolean>()

  constructor(texts: readonly string[], markup: RegExp | undefined) {
    this.#whole = new Set(texts.map((text) => text.trim()))
    this.#all = texts.join('\0')
    this.#markup = markup
  }

  /** What is left of a text without everything that was read. */
  rest(text: string): string {
    const known = this.#rests.get(text)
    if (known !== undefined) return known
    const rest = this.#has(text.trim())
      ? ''
      : text
          .split('\n')
          .map((line) => this.#restOfLine(line.trim()))
          .filter((line) => /[\p{L}\p{N}]/u.test(line))
          .join('\n')
    this.#rests.set(text, rest)
    return rest
  }

  #has(text: string): boolean {
    if (text === '' || this.#whole.has(text)) return true
    return text.length < SHORTEST ? this.#hasWord(text) : this.#all.includes(text)
  }

  /** A short text must not be a part of a longer word. */
  #hasWord(text: string): boolean {
    for (let at = this.#all.indexOf(text); at >= 0; at = this.#all.indexOf(text, at + 1)) {
      const around = [this.#all[at - 1] ?? '', this.#all[at + text.length] ?? '']
      if (!around.some((character) => /[\p{L}\p{N}]/u.test(character))) return true
    }
    return false
  }

  #restOfLine(line: string): string {
    if (this.#has(line)) return ''
    const unmarked = this.#markup === undefined ? line : line.replace(this.#markup, '\n')
    return unmarked
      .split('\n')
      .map((part) => this.#restOfPart(part.trim()))
      .filter((part) => part !== '')
      .join(' ')
  }

  /** From each word on, the longest run of words that was read is left out, if it is long enough to be no accident. */
  #restOfPart(part: string): string {
    if (this.#has(part)) return ''
    const words = part.split(/\s+/)
    const lost: string[] = []
    for (let index = 0; index < words.length; ) {
      const length = this.#longest(words, index)
      if (length < LEAST_WORDS) lost.push(words[index]!)
      index += length < LEAST_WORDS ? 1 : length
    }
    // More than a label is reported with the words around it, without which nobody understands it.
    return lost.length > LONGEST_LABEL || lost.length > words.length / 2 ? part : lost.join(' ')
  }

  /**
   * If some words were read, so were the first of them: the number can be found by doubling and then halving. Most words
   * that were not read are not the first such ones.
   */
  #longest(words: readonly string[], from: number): number {
    const first = words[from]!
    const isKnown = this.#words.get(first) ?? this.#has(first)
    this.#words.set(first, isKnown)
    if (!isKnown) return 0
    const most = words.length - from
    const has = (length: number): boolean => this.#has(words.slice(from, from + length).join(' '))
    let low = 1
    while (low < most && has(Math.min(most, 2 * low))) low = Math.min(most, 2 * low)
    let high = Math.min(most, 2 * low)
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (has(middle)) low = middle
      else high = middle - 1
    }
    return low
  }
}

/** The texts in a value with where they are. Text that is itself JSON, such as arguments, is looked into. */
function* leaves(value: unknown, at: string): Generator<{ at: string; text: string }> {
  if (typeof value === 'number' && SAID.test(at)) yield { at, text: String(value) }
  else if (typeof value === 'string') {
    if (isLabel(value, at)) return
    const inner = jsonIn(value)
    if (inner === undefined) yield { at, text: value }
    else yield* leaves(inner, at)
  } else if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) yield* leaves(element, `${at}[${index}]`)
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, child] of Object.entries(value)) yield* leaves(child, at === '' ? key : `${at}.${key}`)
  }
}

/** All texts in a value. */
export const textsIn = (value: unknown): string[] => [...leaves(value, '')].map(innerText)

/** Ids, times and names of kinds and models, which nobody wrote. */
const isLabel = (text: string, at: string): boolean =>
  (text.length < SHORTEST && !/\s|[.!?]$/.test(text) && !SAID.test(at)) ||
  IDENTIFIER.test(text) ||
  (/(?:^|\.)(?:langgraph_\w+(?:\[\d\])?|(?:langgraph_)?checkpoint_ns|ls_\w+|tags\[\d\]|\w+_url|\w+_kind|\w*_type|tzinfo|type|object|system_fingerprint|signature|encrypted_content|model|model_name|model_version|class|id|\w+_id|status|finish_reason|id\[\d\])$/.test(
    at,
  ) &&
    !/\s/.test(text))

/** UUIDs, times, and random characters after an optional prefix, as in `call_VEZJgIQLgzcb80IIyQJm7JCi`. */
const IDENTIFIER =
  /^(?:(?:[a-z]+-+)*[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:-[\w-]*)?|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)?|(?=\d*[a-f])[0-9a-f]{16,}|[a-z]{2,10}[_-](?=\w*\d)\w{16,})$/i

/** Python programs also log what they print of their values. */
function jsonIn(text: string): unknown {
  if (!/^\s*[[{"]/.test(text)) return pythonValue(text)
  try {
    return parseJson(text)
  } catch {
    return pythonValue(text)
  }
}
