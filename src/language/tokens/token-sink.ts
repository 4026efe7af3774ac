import type { AlignedText } from './aligned-text.ts'
import type { WordTokens } from './words.ts'

/** Tokens with the UTF-16 range each came from. */
export interface Encoding {
  ids: Int32Array
  starts: Int32Array
  ends: Int32Array
}

/** Collects tokens in growing typed arrays. */
export class TokenSink {
  private ids: Int32Array
  private starts: Int32Array
  private ends: Int32Array
  private length = 0
  private offset = 0

  constructor(capacity = 4096) {
    this.ids = new Int32Array(capacity)
    this.starts = new Int32Array(capacity)
    this.ends = new Int32Array(capacity)
  }

  /** Starts over with the same arrays: new ones for every text would cost more than filling them. */
  clear(): void {
    this.length = 0
    this.offset = 0
  }

  /** Starts another text at this offset of the joined text. */
  moveTo(offset: number): void {
    this.offset = offset
  }

  push(id: number, start: number, end: number): void {
    this.reserve(1)
    this.ids[this.length] = id
    this.starts[this.length] = this.offset + start
    this.ends[this.length] = this.offset + end
    this.length++
  }

  /** Adds a word at position `at` of a text. */
  pushWord(word: WordTokens, source: AlignedText, at: number): void {
    const count = word.ids.length
    this.reserve(count)
    const { starts, ends } = source
    const { offset } = this
    const base = offset + source.base + at
    for (let index = 0; index < count; index++) {
      const start = word.starts[index]!
      const end = word.ends[index]!
      this.ids[this.length] = word.ids[index]!
      this.starts[this.length] = starts === null ? base + start : offset + starts[at + start]!
      this.ends[this.length] = ends === null ? base + end : offset + ends[at + end - 1]!
      this.length++
    }
  }

  /** Offset of the current text. */
  get textOffset(): number {
    return this.offset
  }

  get size(): number {
    return this.length
  }

  /** The tokens from `from` on. */
  copy(from: number): Encoding {
    return {
      ids: this.ids.slice(from, this.length),
      starts: this.starts.slice(from, this.length),
      ends: this.ends.slice(from, this.length),
    }
  }

  /** Adds tokens with their positions shifted by `by` units. */
  pushAll({ ids, starts, ends }: Encoding, by: number): void {
    this.reserve(ids.length)
    this.ids.set(ids, this.length)
    for (let index = 0; index < ids.length; index++) {
      this.starts[this.length + index] = starts[index]! + by
      this.ends[this.length + index] = ends[index]! + by
    }
    this.length += ids.length
  }

  finish(): Encoding {
    return this.copy(0)
  }

  private reserve(count: number): void {
    const needed = this.length + count
    if (needed <= this.ids.length) return
    const capacity = Math.max(needed, 2 * this.ids.length)
    this.ids = grown(this.ids, capacity)
    this.starts = grown(this.starts, capacity)
    this.ends = grown(this.ends, capacity)
  }
}

function grown(array: Int32Array, capacity: number): Int32Array {
  const result = new Int32Array(capacity)
  result.set(array)
  return result
}
