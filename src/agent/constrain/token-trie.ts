import type { Place } from './place.ts'
import type { TokenText } from './token-text.ts'

/**
 * A trie of the vocabulary by symbols, in depth-first order: the children of a node directly follow it, and `skip` is
 * where to continue if the node is a dead end. Non-ASCII characters share symbols, so most of a large vocabulary
 * shares few nodes.
 */
export class TokenTrie {
  readonly #symbol: Uint8Array
  readonly #depth: Uint16Array
  readonly #skip: Int32Array
  /**
   * A node's tokens are those from its index in this list up to the next node's: first the complete, then the
   * incomplete ones.
   */
  readonly #first: Int32Array
  readonly #open: Int32Array
  readonly #tokens: Int32Array

  constructor(texts: ReadonlyArray<{ token: number; text: TokenText }>) {
    const sorted = texts
      .map(({ token, text }) => ({ token, symbols: text.symbols, open: text.tail.length > 0 }))
      .sort((one, other) => {
        if (one.symbols !== other.symbols) return one.symbols < other.symbols ? -1 : 1
        return Number(one.open) - Number(other.open) || one.token - other.token
      })
    this.#tokens = Int32Array.from(sorted, ({ token }) => token)
    const nodes = new NodeList(0)
    let path = ''
    for (const [index, { symbols, open }] of sorted.entries()) {
      let shared = 0
      while (shared < path.length && path[shared] === symbols[shared]) shared++
      nodes.leave(path.length - shared)
      for (let at = shared; at < symbols.length; at++) nodes.enter(symbols.charCodeAt(at), at + 1, index)
      nodes.put(index, open)
      path = symbols
    }
    nodes.leave(path.length + 1)
    this.#symbol = Uint8Array.from(nodes.symbol)
    this.#depth = Uint16Array.from(nodes.depth)
    this.#skip = Int32Array.from(nodes.skip)
    this.#first = Int32Array.from([...nodes.first, sorted.length])
    this.#open = Int32Array.from(nodes.open)
  }

  /** Marks the tokens that may follow in a state. */
  mark(place: Place, mask: Uint8Array): void {
    const path: Place[] = [place]
    this.#markNode(0, place, mask)
    const size = this.#symbol.length
    for (let node = 1; node < size; ) {
      const depth = this.#depth[node]!
      const reached = path[depth - 1]!.step(this.#symbol[node]!)
      if (reached === null) {
        node = this.#skip[node]!
        continue
      }
      path[depth] = reached
      this.#markNode(node, reached, mask)
      node++
    }
  }

  #markNode(node: number, place: Place, mask: Uint8Array): void {
    const end = place.wide ? this.#first[node + 1]! : this.#open[node]!
    for (let at = this.#first[node]!; at < end; at++) mask[this.#tokens[at]!] = 1
  }
}

/** The trie under construction: only the nodes on the last token's path can still get children. */
class NodeList {
  readonly symbol: number[] = []
  readonly depth: number[] = []
  readonly skip: number[] = []
  readonly first: number[] = []
  readonly open: number[] = []
  readonly #path: number[] = []

  constructor(first: number) {
    this.enter(0, 0, first)
  }

  enter(symbol: number, depth: number, first: number): void {
    this.#path.push(this.symbol.length)
    this.symbol.push(symbol)
    this.depth.push(depth)
    this.skip.push(0)
    this.first.push(first)
    this.open.push(first)
  }

  leave(count: number): void {
    for (let left = 0; left < count; left++) this.skip[this.#path.pop()!] = this.symbol.length
  }

  /** Assigns the next token to the node entered last. */
  put(index: number, open: boolean): void {
    if (!open) this.open[this.#path.at(-1)!] = index + 1
  }
}
