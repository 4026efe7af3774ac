/**
 * Seeded random numbers (sfc32, seeded by a hash of the seed text): the same seed gives the same values on every
 * machine, and seeds that differ in one character give unrelated ones.
 */
export class Random {
  #a: number
  #b: number
  #c: number
  #counter = 1

  constructor(...seed: (string | number)[]) {
    const next = hashWords(seed.join('\u0000'))
    this.#a = next()
    this.#b = next()
    this.#c = next()
    for (let round = 0; round < 12; round++) this.#word()
  }

  #word(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum
    return sum >>> 0
  }

  /** In [0, 1). */
  unit(): number {
    return this.#word() / 2 ** 32
  }

  /** An integer from low to high, inclusive. */
  int(low: number, high: number): number {
    return low + Math.floor(this.unit() * (high - low + 1))
  }

  chance(probability: number): boolean {
    return this.unit() < probability
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError('nothing to pick from')
    return items[this.int(0, items.length - 1)]!
  }

  /** Returns a shuffled copy. */
  shuffle<T>(items: readonly T[]): T[] {
    const order = [...items]
    for (let last = order.length - 1; last > 0; last--) {
      const other = this.int(0, last)
      ;[order[last], order[other]] = [order[other]!, order[last]!]
    }
    return order
  }

  /** Samples without replacement. */
  sample<T>(items: readonly T[], count: number): T[] {
    return this.shuffle(items).slice(0, count)
  }
}

/** 32-bit words from a text: FNV-1a, finished by Murmur3's mixer. */
function hashWords(text: string): () => number {
  let state = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) state = Math.imul(state ^ byte, 0x01000193)
  return () => {
    state = (state + 0x9e3779b9) | 0
    let word = Math.imul(state ^ (state >>> 16), 0x85ebca6b)
    word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35)
    return word ^ (word >>> 16)
  }
}

/**
 * A number in [0, 1) that depends only on a text. Generated tasks use it for their splits and pages, so its values
 * must never change; everything else uses `fractionOf`.
 */
export function textFraction(text: string): number {
  return (hashWords(text)() >>> 0) / 2 ** 32
}
