/** What a UTF-16 unit is in a text: 0 parts words, 1 belongs to one, 2 is a word of its own. */
const meaning = new Uint8Array(0x1_0000).fill(1)
meaning.fill(0, 0, 128)
for (const character of 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789')
  meaning[character.charCodeAt(0)] = 1
// Without these "3 + 4" and "3 - 4" would be the same question.
for (const character of '+-*/=<>^%$\\&~@#|_') meaning[character.charCodeAt(0)] = 2
// White space and general punctuation beyond ASCII, then scripts written without spaces.
for (const [from, to, value] of [
  [0x80, 0xa9, 0],
  [0x2000, 0x206f, 0],
  [0x3000, 0x303f, 0],
  [0x3040, 0x30ff, 2],
  [0x3400, 0x9fff, 2],
  [0xff00, 0xff0f, 0],
] as const)
  meaning.fill(value, from, to + 1)

const lowerCase = (unit: number): number => (unit >= 65 && unit <= 90 ? unit + 32 : unit)

/**
 * Appends the words of a text as 32-bit hashes: letters in lower case (ASCII), punctuation left out. One pass without a
 * substring, because this runs over every text there is.
 */
export function hashWords(text: string, words: WordBuffer): void {
  let hash = 0
  let inside = false
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    const kind = meaning[unit]!
    if (kind === 1) {
      hash = Math.imul((inside ? hash : 0x811c9dc5) ^ lowerCase(unit), 0x01000193)
      inside = true
      continue
    }
    if (inside) words.push(scramble(hash))
    inside = false
    if (kind === 2) words.push(scramble(Math.imul(0x811c9dc5 ^ unit, 0x01000193)))
  }
  if (inside) words.push(scramble(hash))
}

/** Spreads every bit over all others (the finisher of MurmurHash3). */
export function scramble(value: number): number {
  let mixed = value ^ (value >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed ^= mixed >>> 13
  mixed = Math.imul(mixed, 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

/** A list of 32-bit numbers that is used again for every text. */
export class WordBuffer {
  #values = new Uint32Array(4096)
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Valid until the next push or clear. */
  get values(): Uint32Array {
    return this.#values.subarray(0, this.#size)
  }

  push(value: number): void {
    if (this.#size === this.#values.length) {
      const larger = new Uint32Array(this.#values.length * 2)
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[this.#size++] = value
  }

  clear(): void {
    this.#size = 0
  }
}

/** Hashes of every run of `width` neighbouring words; of all words together where there are fewer. */
export function hashShingles(words: Uint32Array, width: number, shingles: WordBuffer): void {
  const last = Math.max(0, words.length - width)
  for (let start = 0; start <= last && words.length > 0; start++) {
    const end = Math.min(words.length, start + width)
    let hash = 0x9e3779b9
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ words[at]!, 0x01000193) ^ (hash >>> 15)
    shingles.push(scramble(hash))
  }
}

/** Reads a text into `words` and returns it as a key in which case, punctuation and Unicode forms do not matter. */
export function wordKey(text: string, words: WordBuffer): string {
  words.clear()
  hashWords(text.normalize('NFKC').toLowerCase(), words)
  const { buffer, byteOffset, byteLength } = words.values
  return Buffer.from(buffer, byteOffset, byteLength).toString('latin1')
}
