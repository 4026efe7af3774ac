/** How often each word stands in the texts. */
export class WordCounter {
  readonly #places = new Map<string, number>()
  #words: string[] = []
  #counts: number[] = []
  readonly #most: number
  /** Words forgotten because there were too many. */
  forgotten = 0
  /** Words seen so often or less are forgotten next; it rises when that makes too little room. */
  #floor = 1

  constructor(most: number) {
    this.#most = most
  }

  get words(): readonly string[] {
    return this.#words
  }

  get counts(): readonly number[] {
    return this.#counts
  }

  add(word: string): void {
    const place = this.#places.get(word)
    if (place !== undefined) {
      this.#counts[place]!++
      return
    }
    while (this.#places.size >= this.#most) this.#forgetRarest()
    // A slice of 13 units or more keeps its whole parent text alive; what is kept has to be a copy.
    const own = word.length < 13 ? word : Buffer.from(word, 'utf16le').toString('utf16le')
    this.#places.set(own, this.#words.length)
    this.#words.push(own)
    this.#counts.push(1)
  }

  /** Makes room for half as many again; a frequent word comes back, and has lost only its first sightings. */
  #forgetRarest(): void {
    const words = this.#words
    const counts = this.#counts
    this.#words = []
    this.#counts = []
    this.#places.clear()
    words.forEach((word, place) => {
      if (counts[place]! <= this.#floor) return
      this.#places.set(word, this.#words.length)
      this.#words.push(word)
      this.#counts.push(counts[place]!)
    })
    this.forgotten += words.length - this.#words.length
    if (this.#words.length > this.#most / 2) this.#floor *= 2
  }
}
