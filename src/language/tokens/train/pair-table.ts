/**
 * Pairs of adjacent symbols with their counts and the words they occur in. A pair is identified by a number.
 * Everything is in typed arrays: a large text has millions of pairs, too many for objects.
 */
export class PairTable {
  size = 0
  left = new Int32Array(1 << 12)
  right = new Int32Array(1 << 12)
  count = new Float64Array(1 << 12)
  /** The pair's first entry in the list of words, or -1. */
  #first = new Int32Array(1 << 12)
  /** Open addressing: pair + 1, or 0. Twice the capacity for pairs. */
  #slots = new Int32Array(1 << 13)
  /** Words of pairs, as linked lists in one array; `#free` is the head of the free list. */
  #word = new Int32Array(1 << 12)
  #next = new Int32Array(1 << 12)
  #entries = 0
  #free = -1

  /** The number of a pair; a new one has count 0 and no words. */
  find(left: number, right: number): number {
    const mask = this.#slots.length - 1
    let slot = hash(left, right) & mask
    for (;;) {
      const pair = this.#slots[slot]! - 1
      if (pair < 0) break
      if (this.left[pair] === left && this.right[pair] === right) return pair
      slot = (slot + 1) & mask
    }
    if (this.size === this.left.length) {
      this.#grow()
      return this.find(left, right)
    }
    const pair = this.size++
    this.#slots[slot] = pair + 1
    this.left[pair] = left
    this.right[pair] = right
    this.#first[pair] = -1
    return pair
  }

  /** Records that a pair occurs in a word; consecutive duplicates are stored once. */
  addWord(pair: number, word: number): void {
    const first = this.#first[pair]!
    if (first >= 0 && this.#word[first] === word) return
    const entry = this.#newEntry()
    this.#word[entry] = word
    this.#next[entry] = first
    this.#first[pair] = entry
  }

  /** Removes and returns a pair's words. Some may no longer contain it: other merges may have consumed its symbols. */
  takeWords(pair: number): number[] {
    const words: number[] = []
    let entry = this.#first[pair]!
    while (entry >= 0) {
      words.push(this.#word[entry]!)
      const next = this.#next[entry]!
      this.#next[entry] = this.#free
      this.#free = entry
      entry = next
    }
    this.#first[pair] = -1
    return words
  }

  #newEntry(): number {
    if (this.#free >= 0) {
      const entry = this.#free
      this.#free = this.#next[entry]!
      return entry
    }
    if (this.#entries === this.#word.length) {
      this.#word = doubled(this.#word)
      this.#next = doubled(this.#next)
    }
    return this.#entries++
  }

  #grow(): void {
    this.left = doubled(this.left)
    this.right = doubled(this.right)
    this.#first = doubled(this.#first)
    const count = new Float64Array(this.count.length * 2)
    count.set(this.count)
    this.count = count
    this.#slots = new Int32Array(this.#slots.length * 2)
    const mask = this.#slots.length - 1
    for (let pair = 0; pair < this.size; pair++) {
      let slot = hash(this.left[pair]!, this.right[pair]!) & mask
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask
      this.#slots[slot] = pair + 1
    }
  }
}

function hash(left: number, right: number): number {
  const mixed = Math.imul(Math.imul(left, 0x9e3779b1) ^ right, 0x85ebca6b)
  return mixed ^ (mixed >>> 15)
}

function doubled(array: Int32Array): Int32Array<ArrayBuffer> {
  const result = new Int32Array(array.length * 2)
  result.set(array)
  return result
}
