/** Counts words. */
export class WordCounter {
  readonly #indexes = new Map<string, number>()
  #words: string[] = []
  #counts: number[] = []
  readonly #limit: number
  /** Number of words dropped because there were too many. */
  forgotten = 0
  /** Words with at most this count are dropped next; it rises if that frees too little space. */
  #floor = 1

  constructor(limit: number) {
    this.#limit = limit
  }

  get words(): readonly string[] {
    return this.#words
  }

  get counts(): readonly number[] {
    return this.#counts
  }

  add(word: string): void {
    const index = this.#indexes.get(word)
    if (index !== undefined) {
      this.#counts[index]!++
      return
    }
    while (this.#indexes.size >= this.#limit) this.#dropRarest()
    // A slice of 13 or more units keeps its whole parent text in memory, so a copy is stored.
    const own = word.length < 13 ? word : Buffer.from(word, 'utf16le').toString('utf16le')
    this.#indexes.set(own, this.#words.length)
    this.#words.push(own)
    this.#counts.push(1)
  }

  /** Drops rare words until at most half are left; a frequent word that returns has only lost its first occurrences. */
  #dropRarest(): void {
    const words = this.#words
    const counts = this.#counts
    this.#words = []
    this.#counts = []
    this.#indexes.clear()
    words.forEach((word, index) => {
      if (counts[index]! <= this.#floor) return
      this.#indexes.set(word, this.#words.length)
      this.#words.push(word)
      this.#counts.push(counts[index]!)
    })
    this.forgotten += words.length - this.#words.length
    if (this.#words.length > this.#limit / 2) this.#floor *= 2
  }
}
