/**
 * Values that Python printed: literals such as `{'query': 'x', 'n': None}`, objects such as `AIMessage(content='x')` and
 * fields without a name around them, as in `content='x' name='search'`. Objects become their fields, with `class`, and
 * members of an enumeration, as in `<Role.USER: 'user'>`, their values.
 * Undefined for anything else.
 */
export function pythonValue(text: string): unknown {
  // Most texts are words; they are turned away before they are read.
  if (!/^\s*(?:[[{('"]|[A-Za-z_]\w*\(|[a-z_]+=['"[{(\dNTF])/.test(text)) return undefined
  const reader = new Reader(text)
  try {
    const value = /^\s*[a-z_]+=/.test(text) ? reader.fields() : reader.value()
    return reader.atEnd() ? value : undefined
  } catch {
    return undefined
  }
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '\n': '' }
const WORDS: Readonly<Record<string, unknown>> = { True: true, False: false, None: null }
const CLOSING: Readonly<Record<string, string>> = { '[': ']', '(': ')', '{': '}' }
const DEEPEST = 200

class Reader {
  readonly #text: string
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  atEnd(): boolean {
    this.#space()
    return this.#at === this.#text.length
  }

  value(): unknown {
    this.#space()
    const first = this.#text[this.#at] ?? ''
    if (first === '"' || first === "'") return this.#string()
    if (first in CLOSING) return this.#list(first)
    if (this.#match(/<[A-Za-z_][\w.]*: /y) !== undefined) {
      const member = this.value()
      if (!this.#takes('>')) throw new Error('not a Python literal')
      return member
    }
    const number = this.#match(/-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/y)
    if (number !== undefined) return Number(number)
    const word = this.#match(/[A-Za-z_][\w.]*/y)
    if (word === undefined) throw new Error('not a Python literal')
    if (word in WORDS) return WORDS[word]
    if (this.#text[this.#at] !== '(') {
      if (word.includes('.')) return word
      throw new Error('not a Python literal')
    }
    return { class: word, ...this.#arguments() }
  }

  /** `key=value key=value`, as objects print themselves. */
  fields(): Record<string, unknown> {
    const fields: Record<string, unknown> = {}
    while (!this.atEnd()) this.#field(fields)
    return fields
  }

  #field(into: Record<string, unknown>): void {
    this.#space()
    const name = this.#match(/[A-Za-z_]\w*(?==)/y)
    if (name === undefined) throw new Error('not a field')
    this.#at++
    into[name] = this.value()
  }

  #arguments(): Record<string, unknown> {
    this.#at++
    const fields: Record<string, unknown> = {}
    const unnamed: unknown[] = []
    while (!this.#takes(')')) {
      this.#space()
      if (/^[A-Za-z_]\w*=/.test(this.#text.slice(this.#at, this.#at + 80))) this.#field(fields)
      else unnamed.push(this.value())
      this.#takes(',')
    }
    return unnamed.length === 0 ? fields : { ...fields, values: unnamed }
  }

  #list(open: string): unknown {
    if (++this.#depth > DEEPEST) throw new Error('nested too deeply')
    this.#at++
    const items: unknown[] = []
    const entries: [string, unknown][] = []
    while (!this.#takes(CLOSING[open]!)) {
      const item = this.value()
      if (open === '{' && this.#takes(':')) entries.push([String(item), this.value()])
      else items.push(item)
      if (!this.#takes(',') && !this.#sees(CLOSING[open]!)) throw new Error('not a Python literal')
    }
    this.#depth--
    if (open === '{' && items.length === 0) return Object.fromEntries(entries)
    return items
  }

  #string(): string {
    const quote = this.#text[this.#at]!
    let text = ''
    for (this.#at++; this.#text[this.#at] !== quote; this.#at++) {
      const character = this.#text[this.#at]
      if (character === undefined) throw new Error('a string without an end')
      text += character === '\\' ? this.#escape() : character
    }
    this.#at++
    return text
  }

  #escape(): string {
    const next = this.#text[++this.#at] ?? ''
    const digits = { x: 2, u: 4, U: 8 }[next]
    if (digits === undefined) return ESCAPES[next] ?? next
    const code = this.#text.slice(this.#at + 1, this.#at + 1 + digits)
    this.#at += digits
    return String.fromCodePoint(Number.parseInt(code, 16))
  }

  #space(): void {
    this.#match(/\s+/y)
  }

  #sees(character: string): boolean {
    this.#space()
    return this.#text[this.#at] === character
  }

  #takes(character: string): boolean {
    const found = this.#sees(character)
    if (found) this.#at++
    else if (this.#at >= this.#text.length) throw new Error('the text ends early')
    return found
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    if (found !== undefined) this.#at += found.length
    return found
  }
}
