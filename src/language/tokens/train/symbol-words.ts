import type { PairTable } from './pair-table.ts'

const utf8 = new TextEncoder()

/** The words as sequences of symbols, initially one per byte; merging shortens them in position. */
export class SymbolWords {
  readonly #symbols: Int32Array
  readonly #starts: Int32Array
  readonly #lengths: Int32Array
  readonly #counts: Float64Array

  constructor(words: readonly string[], counts: readonly number[], symbolOfByte: readonly number[]) {
    const encoded = words.reduce((sum, word) => sum + Buffer.byteLength(word), 0)
    this.#symbols = new Int32Array(encoded)
    this.#starts = new Int32Array(words.length)
    this.#lengths = new Int32Array(words.length)
    this.#counts = Float64Array.from(counts)
    let end = 0
    words.forEach((word, index) => {
      this.#starts[index] = end
      for (const byte of utf8.encode(word)) this.#symbols[end++] = symbolOfByte[byte]!
      this.#lengths[index] = end - this.#starts[index]!
    })
  }

  /** Adds every adjacent pair to an empty table; "aaa" has the pair (a, a) twice. */
  countPairs(table: PairTable): void {
    for (let word = 0; word < this.#starts.length; word++) {
      const start = this.#starts[word]!
      const end = start + this.#lengths[word]!
      for (let position = start + 1; position < end; position++) {
        const pair = table.find(this.#symbols[position - 1]!, this.#symbols[position]!)
        table.count[pair]! += this.#counts[word]!
        table.addWord(pair, word)
      }
    }
  }

  /**
   * Merges each `left` `right` in a word, from the start, into `merged`, and updates the table: every merge removes
   * its own pair and the two with its neighbors, and adds two new ones, which are passed to `grown`.
   */
  merge(
    word: number,
    { left, right, merged }: { left: number; right: number; merged: number },
    table: PairTable,
    grown: (pair: number) => void,
  ): void {
    const symbols = this.#symbols
    const count = this.#counts[word]!
    const start = this.#starts[word]!
    const end = start + this.#lengths[word]!
    const exchange = (oldLeft: number, oldRight: number, newLeft: number, newRight: number): void => {
      table.count[table.find(oldLeft, oldRight)]! -= count
      const pair = table.find(newLeft, newRight)
      table.count[pair]! += count
      table.addWord(pair, word)
      grown(pair)
    }
    let write = start
    let read = start
    while (read < end) {
      if (symbols[read] !== left || read + 1 === end || symbols[read + 1] !== right) {
        symbols[write++] = symbols[read++]!
        continue
      }
      table.count[table.find(left, right)]! -= count
      if (write > start) exchange(symbols[write - 1]!, left, symbols[write - 1]!, merged)
      if (read + 2 < end) exchange(right, symbols[read + 2]!, merged, symbols[read + 2]!)
      symbols[write++] = merged
      read += 2
    }
    this.#lengths[word] = write - start
  }
}
