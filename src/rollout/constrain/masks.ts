import type { Tokenizer } from '../../tokens/index.ts'
import type { Place } from './place.ts'
import { symbolOf } from './symbols.ts'
import { type TokenText, tokenText } from './token-text.ts'
import { TokenTrie } from './token-trie.ts'
import { isContinuation, readCharacter } from './utf8.ts'

/** Memory for masks that have been worked out. */
const CACHE_BYTES = 64 * 2 ** 20
const FEWEST_KEPT = 64

/** Which tokens of a vocabulary may follow at a place. Each mask is worked out once and shared by all who are there. */
export class Masks {
  readonly #tokenizer: Tokenizer
  readonly #endTokens: ReadonlySet<number>
  readonly #size: number
  readonly #trie: TokenTrie
  /** Tokens that begin inside a character. */
  readonly #continuing: { token: number; text: TokenText }[] = []
  readonly #single = new Set<string>()
  /** The least lately used first. */
  readonly #known = new Map<string, Uint8Array>()

  constructor(
    tokenizer: Tokenizer,
    { endTokens, vocabularySize }: { endTokens: readonly number[]; vocabularySize: number },
  ) {
    this.#tokenizer = tokenizer
    this.#endTokens = new Set(endTokens)
    this.#size = vocabularySize
    const all: { token: number; text: TokenText }[] = []
    for (let token = 0; token < Math.min(vocabularySize, tokenizer.vocabularySize); token++) {
      const text = this.textOf(token)
      if (text !== undefined) all.push({ token, text })
    }
    for (const { text } of all) if (text.symbols.length === 1 && isWhole(text)) this.#single.add(text.symbols)
    // A character may be begun only where every way to end it is open.
    const endable = all.filter(({ text }) => isContinuationByte(text)).length >= 64
    const usable = endable ? all : all.filter(({ text }) => text.tail.length === 0)
    this.#continuing = usable.filter(({ text }) => text.head.length > 0)
    this.#trie = new TokenTrie(usable.filter(({ text }) => text.head.length === 0))
  }

  isEnd(token: number): boolean {
    return this.#endTokens.has(token)
  }

  /** True where an ASCII character is a token. */
  spells(character: string): boolean {
    return this.#single.has(character)
  }

  textOf(token: number): TokenText | undefined {
    return this.#endTokens.has(token) ? undefined : tokenText(this.#tokenizer, token)
  }

  /** `begun` is the beginning of a character that has been sampled. */
  at(place: Place, begun: readonly number[]): Uint8Array {
    const key = `${begun.join(' ')} ${place.key}`
    let mask = this.#known.get(key)
    if (mask === undefined) {
      mask = this.#work(place, begun)
      const most = Math.max(FEWEST_KEPT, Math.floor(CACHE_BYTES / this.#size))
      if (this.#known.size >= most) this.#known.delete(this.#known.keys().next().value!)
    } else this.#known.delete(key)
    this.#known.set(key, mask)
    return mask
  }

  #work(place: Place, begun: readonly number[]): Uint8Array {
    const mask = new Uint8Array(this.#size)
    if (place.ended) for (const token of this.#endTokens) mask[token] = 1
    if (begun.length === 0) this.#trie.mark(place, mask)
    else {
      for (const { token, text } of this.#continuing) {
        if (follow(place, begun, text) !== undefined) mask[token] = 1
      }
    }
    return mask
  }
}

function isWhole({ head, tail }: TokenText): boolean {
  return head.length === 0 && tail.length === 0
}

function isContinuationByte({ head, symbols, tail }: TokenText): boolean {
  return head.length === 1 && isContinuation(head[0]!) && symbols === '' && tail.length === 0
}

/** Where a token leads, and the beginning of a character it leaves; undefined where it may not follow. */
export function follow(
  place: Place,
  begun: readonly number[],
  { head, symbols, tail }: TokenText,
): { place: Place; begun: readonly number[] } | undefined {
  let reached: Place | null = place
  if (begun.length + head.length > 0) {
    if (begun.length === 0) return undefined
    const bytes = [...begun, ...head]
    const character = readCharacter(bytes)
    if (character === 'invalid') return undefined
    if (character === 'partial')
      return head.length > 0 && symbols === '' && tail.length === 0 ? { place, begun: bytes } : undefined
    reached = place.step(symbolOf(character))
  }
  for (let at = 0; at < symbols.length && reached !== null; at++)
    reached = reached.step(symbols.charCodeAt(at))
  if (reached === null || (tail.length > 0 && !reached.wide)) return undefined
  return { place: reached, begun: [...tail] }
}
