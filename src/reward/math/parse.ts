import { type Node, trigonometric } from './node.ts'
import { NotMath } from './not-math.ts'
import { isMinusOne, mixed, numberNode, readNumber, times } from './number-nodes.ts'
import type { Token } from './tokenize.ts'

/** How ambiguous notation is interpreted. The caller tries each interpretation of the ambiguities that occurred. */
export interface Reading {
  /** The sign of `\pm`. */
  sign: 1 | -1
  /** Whether `1/2x` means 1/(2x). */
  tightSlash: boolean
  /** The base of `\log` without one. */
  logBase: 'e' | '10'
}

export interface Ambiguities {
  sign: boolean
  slash: boolean
  log: boolean
}

const nestingLimit = 120
const functions = new Set<string>([...trigonometric, 'ln', 'log', 'lg', 'exp', 'sqrt', 'cbrt', 'abs'])
const greek = new Set(
  (
    'alpha beta gamma delta epsilon varepsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau phi chi psi ' +
    'omega Gamma Delta Theta Lambda Sigma Phi Psi Omega ell'
  ).split(' '),
)
const closing: Record<string, string> = { '(': ')', '[': ']', '{': '}' }

/** Parses all tokens as one expression, or throws NotMath. */
export function parseExpression(tokens: readonly Token[], reading: Reading, ambiguities: Ambiguities): Node {
  const parser = new ExpressionParser(tokens, reading, ambiguities)
  const node = parser.sum()
  parser.end()
  return node
}

class ExpressionParser {
  readonly #tokens: Token[]
  readonly #reading: Reading
  readonly #ambiguities: Ambiguities
  #position = 0
  #depth = 0
  #bars = 0

  constructor(tokens: readonly Token[], reading: Reading, ambiguities: Ambiguities) {
    this.#tokens = [...tokens]
    this.#reading = reading
    this.#ambiguities = ambiguities
  }

  #peek(ahead = 0): Token | undefined {
    return this.#tokens[this.#position + ahead]
  }

  #is(text: string, ahead = 0): boolean {
    const token = this.#peek(ahead)
    return token !== undefined && token.type === 'symbol' && token.text === text
  }

  #isCommand(...names: string[]): boolean {
    const token = this.#peek()
    return token !== undefined && token.type === 'command' && names.includes(token.text)
  }

  #take(text: string): boolean {
    const found = this.#is(text)
    if (found) this.#position++
    return found
  }

  #expect(text: string): void {
    if (!this.#take(text)) throw new NotMath(`expected ${text}`)
  }

  end(): void {
    if (this.#position < this.#tokens.length) throw new NotMath(`did not expect ${this.#peek()!.text}`)
  }

  sum(): Node {
    if (++this.#depth > nestingLimit) throw new NotMath('nested too deeply')
    const terms: Node[] = []
    do {
      const negative = this.#signs()
      const term = this.#product()
      terms.push(negative ? { kind: 'negate', of: term } : term)
    } while (this.#is('+') || this.#is('-') || this.#isCommand('pm', 'mp'))
    this.#depth--
    return terms.length === 1 ? terms[0]! : { kind: 'add', terms }
  }

  /** Consumes any signs; returns true if they add up to a minus. */
  #signs(): boolean {
    let negative = false
    for (let count = 0; count < 4; count++) {
      if (this.#take('-')) negative = !negative
      else if (this.#isCommand('pm', 'mp')) {
        const plus = (this.#peek()!.text === 'pm') === (this.#reading.sign === 1)
        if (!plus) negative = !negative
        this.#ambiguities.sign = true
        this.#position++
      } else if (!this.#take('+')) break
    }
    return negative
  }

  #product(): Node {
    let left = this.#factor()
    for (;;) {
      if (this.#take('*')) left = times(left, this.#signed())
      else if (this.#take('/')) left = { kind: 'divide', top: left, bottom: this.#denominator() }
      else if (this.#startsFactor()) left = times(left, this.#factor())
      else return left
    }
  }

  #signed(): Node {
    const negative = this.#signs()
    const node = this.#factor()
    return negative ? { kind: 'negate', of: node } : node
  }

  /** After a slash, `2x` may mean just 2 or the product: usage differs. */
  #denominator(): Node {
    let node = this.#signed()
    if (!this.#startsFactor()) return node
    this.#ambiguities.slash = true
    if (this.#reading.tightSlash) while (this.#startsFactor()) node = times(node, this.#factor())
    return node
  }

  #startsFactor(): boolean {
    const token = this.#peek()
    if (token === undefined) return false
    if (token.type === 'number') {
      // Two adjacent numbers are not a product, except after a closing bracket or a letter.
      const before = this.#tokens[this.#position - 1]?.type
      if (before === 'number') throw new NotMath('two numbers in a row')
      // x1 may be an indexed name.
      if (before === 'name') throw new NotMath('a number after a letter')
      return true
    }
    if (token.type === 'name') return true
    if (token.type === 'command')
      return !['in', 'cup', 'cap', 'pm', 'mp', 'rfloor', 'rceil'].includes(token.text)
    if (token.type === 'symbol') {
      return (
        token.text === '(' ||
        token.text === '{' ||
        token.text === '[' ||
        (token.text === '|' && this.#bars === 0)
      )
    }
    return false
  }

  #factor(): Node {
    const base = this.#postfix(this.#primary())
    if (!this.#take('^')) return base
    const exponent = this.#exponent()
    return this.#postfix({ kind: 'power', base, exponent })
  }

  #exponent(): Node {
    if (this.#is('{') || this.#is('(')) return this.#primary()
    const negative = this.#signs()
    const node = this.#primary()
    // a^b^c is read from the right.
    const whole: Node = this.#take('^') ? { kind: 'power', base: node, exponent: this.#exponent() } : node
    return negative ? { kind: 'negate', of: whole } : whole
  }

  #postfix(node: Node): Node {
    let result = node
    for (;;) {
      if (this.#take('!')) {
        if (this.#is('!')) throw new NotMath('a double factorial')
        result = { kind: 'call', name: 'factorial', args: [result] }
      } else if (this.#isCommand('degree')) {
        this.#position++
        const turn: Node = { kind: 'divide', top: { kind: 'constant', name: 'pi' }, bottom: numberNode(180) }
        result = times(result, turn)
      } else return result
    }
  }

  #primary(): Node {
    if (++this.#depth > nestingLimit) throw new NotMath('nested too deeply')
    const node = this.#unguardedPrimary()
    this.#depth--
    return node
  }

  #unguardedPrimary(): Node {
    const token = this.#peek()
    if (token === undefined) throw new NotMath('an expression ends too early')
    if (token.type === 'word') throw new NotMath(`the word ${token.text}`)
    this.#position++
    if (token.type === 'number') return this.#number(token)
    if (token.type === 'name') return this.#name(token.text)
    if (token.type === 'command') return this.#command(token.text)
    if (token.text === '|') {
      this.#bars++
      const inner = this.sum()
      this.#expect('|')
      this.#bars--
      return { kind: 'call', name: 'abs', args: [inner] }
    }
    const close = closing[token.text]
    if (close === undefined) throw new NotMath(`did not expect ${token.text}`)
    const bars = this.#bars
    this.#bars = 0
    const inner = this.sum()
    this.#bars = bars
    if (token.text === '{' && this.#isCommand('choose')) {
      this.#position++
      const lower = this.sum()
      this.#expect('}')
      return { kind: 'call', name: 'binomial', args: [inner, lower] }
    }
    this.#expect(close)
    return inner
  }

  #number(token: Token): Node {
    const node = readNumber(token.text)
    if (node.kind !== 'number' || node.value.denominator !== 1n || token.text.includes('.')) return node
    const [next, slash, last] = [this.#peek(), this.#peek(1), this.#peek(2)]
    // 2 1/2 and 2\frac12 are mixed numbers if the second part is a proper fraction of digits.
    if (next?.type === 'number' && next.spaced && slash?.text === '/' && last?.type === 'number') {
      this.#position += 3
      return mixed(node, readNumber(next.text), readNumber(last.text))
    }
    if (!this.#isCommand('frac')) return node
    const start = this.#position
    this.#position++
    const [top, bottom] = [this.#argument(), this.#argument()]
    if (top.kind === 'number' && bottom.kind === 'number') return mixed(node, top, bottom)
    this.#position = start
    return node
  }

  #name(letter: string): Node {
    if (this.#take('_')) {
      const subscript = this.#argumentText()
      return { kind: 'variable', name: `${letter}_${subscript}` }
    }
    if (this.#is("'")) throw new NotMath('a prime')
    if (letter === 'e' || letter === 'i') return { kind: 'constant', name: letter }
    return { kind: 'variable', name: letter }
  }

  #argumentText(): string {
    const braced = this.#take('{')
    let text = ''
    for (let token = this.#peek(); token !== undefined; token = this.#peek()) {
      if (braced && this.#take('}')) return text
      if (token.type === 'symbol' && !/^[,+\-*]$/.test(token.text)) throw new NotMath('a subscript')
      text += token.text
      this.#position++
      if (!braced) return text
    }
    throw new NotMath('a subscript that does not end')
  }

  /** An argument of \frac or \sqrt: a group, or a single digit, letter or command. */
  #argument(): Node {
    const token = this.#peek()
    if (token?.type === 'number' && token.text.length > 1 && !token.text.includes('.')) {
      this.#tokens[this.#position] = { ...token, text: token.text.slice(1), spaced: false }
      return readNumber(token.text[0]!)
    }
    if (this.#is('(')) throw new NotMath('a fraction without braces')
    return this.#primary()
  }

  #command(name: string): Node {
    if (name === 'pi') return { kind: 'constant', name: 'pi' }
    if (name === 'infty') return { kind: 'constant', name: 'infinity' }
    if (name === 'frac') return { kind: 'divide', top: this.#argument(), bottom: this.#argument() }
    if (name === 'binom')
      return { kind: 'call', name: 'binomial', args: [this.#argument(), this.#argument()] }
    if (name === 'lfloor') return this.#delimited('floor', 'rfloor')
    if (name === 'lceil') return this.#delimited('ceiling', 'rceil')
    if (greek.has(name)) return this.#name(name)
    if (functions.has(name)) return this.#function(name)
    throw new NotMath(`\\${name}`)
  }

  #delimited(name: 'floor' | 'ceiling', end: string): Node {
    const inner = this.sum()
    if (!this.#isCommand(end)) throw new NotMath(`expected \\${end}`)
    this.#position++
    return { kind: 'call', name, args: [inner] }
  }

  #function(name: string): Node {
    if (name === 'sqrt') return this.#root()
    if (name === 'cbrt') return { kind: 'call', name: 'root', args: [this.#primary(), numberNode(3)] }
    if (name === 'abs') return { kind: 'call', name: 'abs', args: [this.#primary()] }
    const base = name === 'log' && this.#take('_') ? this.#argument() : undefined
    const exponent = this.#take('^') ? this.#exponent() : undefined
    const argument = this.#functionArgument()
    if (exponent !== undefined && isMinusOne(exponent)) {
      if (name !== 'sin' && name !== 'cos' && name !== 'tan') throw new NotMath(`an inverse of ${name}`)
      return { kind: 'call', name: `arc${name}`, args: [argument] }
    }
    const call = this.#apply(name, argument, base)
    return exponent === undefined ? call : { kind: 'power', base: call, exponent }
  }

  #root(): Node {
    let degree: Node | undefined
    if (this.#is('[')) {
      this.#position++
      degree = this.sum()
      this.#expect(']')
    }
    const inner = this.#is('(') ? this.#primary() : this.#argument()
    return {
      kind: 'call',
      name: degree === undefined ? 'sqrt' : 'root',
      args: degree === undefined ? [inner] : [inner, degree],
    }
  }

  #apply(name: string, argument: Node, base: Node | undefined): Node {
    if (name === 'exp') return { kind: 'power', base: { kind: 'constant', name: 'e' }, exponent: argument }
    if (name === 'ln') return { kind: 'call', name: 'logarithm', args: [argument] }
    if (name === 'lg') return { kind: 'call', name: 'logarithm', args: [argument, numberNode(10)] }
    if (name === 'log') {
      if (base !== undefined) return { kind: 'call', name: 'logarithm', args: [argument, base] }
      this.#ambiguities.log = true
      const ten = this.#reading.logBase === '10' ? [numberNode(10)] : []
      return { kind: 'call', name: 'logarithm', args: [argument, ...ten] }
    }
    const known = trigonometric.find((candidate) => candidate === name)
    if (known === undefined) throw new NotMath(name)
    return { kind: 'call', name: known, args: [argument] }
  }

  /** `\sin(x)` or `\sin 2x`: without parentheses, the argument is the product up to the next function or sign. */
  #functionArgument(): Node {
    if (this.#is('(') || this.#is('{')) {
      const inner = this.#primary()
      if (this.#is('^')) throw new NotMath('a power after a function')
      return inner
    }
    const negative = this.#signs()
    let argument = this.#factor()
    while (this.#startsFactor() && !functions.has(this.#peek()!.text) && !this.#is('(')) {
      argument = times(argument, this.#factor())
    }
    if (this.#is('/')) {
      this.#ambiguities.slash = true
      if (this.#reading.tightSlash) {
        this.#position++
        argument = { kind: 'divide', top: argument, bottom: this.#denominator() }
      }
    }
    return negative ? { kind: 'negate', of: argument } : argument
  }
}
