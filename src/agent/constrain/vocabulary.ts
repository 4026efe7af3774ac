import type { Tokenizer } from '../../language/tokens/index.ts'
import { follow, type Position } from './follow.ts'
import { type TokenText, tokenText } from './token-text.ts'
import { TokenTrie } from './token-trie.ts'

/** Number of values of a continuation byte. */
const CONTINUATION_BYTES = 64

const known = new WeakMap<Tokenizer, Vocabulary>()

/** The tokens of a tokenizer as constraints see them. Built once for all grammars, because it takes a while. */
export function vocabularyOf(tokenizer: Tokenizer): Vocabulary {
  let vocabulary = known.get(tokenizer)
  if (vocabulary === undefined) {
    vocabulary = new Vocabulary(tokenizer)
    known.set(tokenizer, vocabulary)
  }
  return vocabulary
}

export class Vocabulary {
  readonly #tokenizer: Tokenizer
  readonly #trie: TokenTrie
  /** Tokens that start inside a character. */
  readonly #continuing: { token: number; text: TokenText }[]
  readonly #single = new Set<string>()

  constructor(tokenizer: Tokenizer) {
    this.#tokenizer = tokenizer
    const all: { token: number; text: TokenText }[] = []
    for (let token = 0; token < tokenizer.vocabularySize; token++) {
      const text = tokenText(tokenizer, token)
      if (text !== undefined) all.push({ token, text })
    }
    const inside = new Set<number>()
    for (const { text } of all) {
      const { head, symbols, tail } = text
      if (tail.length > 0 || head.length + symbols.length !== 1) continue
      if (head.length === 1) inside.add(head[0]!)
      else this.#single.add(symbols)
    }
    // A character may be started only if every continuation is available.
    const usable = inside.size === CONTINUATION_BYTES ? all : all.filter(({ text }) => text.tail.length === 0)
    this.#continuing = usable.filter(({ text }) => text.head.length > 0)
    this.#trie = new TokenTrie(usable.filter(({ text }) => text.head.length === 0))
  }

  /** Whether an ASCII character is a token of its own. */
  spells(character: string): boolean {
    return this.#single.has(character)
  }

  /** The position after a token; undefined if it may not follow. */
  after(position: Position, token: number): Position | undefined {
    const text = tokenText(this.#tokenizer, token)
    return text && follow(position, text)
  }

  /** Marks the tokens that may follow. */
  mark({ place, begun }: Position, mask: Uint8Array): void {
    if (begun.length === 0) this.#trie.mark(place, mask)
    else for (const { token, text } of this.#continuing) if (follow({ place, begun }, text)) mask[token] = 1
  }
}
