import { textOf } from './units.ts'
import type { EncodeWord, WordTokens } from './words.ts'

/** Encodes the word in a range of a text, given as UTF-16 units. */
export type EncodeWordAt = (text: Uint16Array, start: number, end: number) => WordTokens

const maxCachedWordLength = 48
const maxCachedWords = 65_536
/** Twice as many slots as words, so that a free one is always close. */
const slots = 2 * maxCachedWords

/**
 * Caches words: natural text repeats them, so most take one lookup instead of merging. Words are looked up in place;
 * a Map would need a string for every word, which costs more than everything else.
 */
export function cachedWords(encodeWord: EncodeWord): EncodeWordAt {
  /** Entry number plus one for each slot; 0 if free. */
  const entryOfSlot = new Int32Array(slots)
  const known: WordTokens[] = []
  /** All cached words in one array, with their start positions. */
  let units = new Uint16Array(maxCachedWords)
  const wordStarts = new Int32Array(maxCachedWords + 1)

  const clear = (): void => {
    entryOfSlot.fill(0)
    known.length = 0
  }
  const remember = (
    slot: number,
    text: Uint16Array,
    start: number,
    end: number,
    tokens: WordTokens,
  ): void => {
    const begin = wordStarts[known.length]!
    if (begin + end - start > units.length) {
      const larger = new Uint16Array(2 * units.length)
      larger.set(units)
      units = larger
    }
    units.set(text.subarray(start, end), begin)
    known.push(tokens)
    wordStarts[known.length] = begin + end - start
    entryOfSlot[slot] = known.length
  }

  return (text, start, end) => {
    const length = end - start
    if (length > maxCachedWordLength) return encodeWord(textOf(text, start, end))
    // FNV-1a, with its high bits folded into the low ones that pick the slot.
    let hash = 0x811c9dc5
    for (let index = start; index < end; index++) hash = Math.imul(hash ^ text[index]!, 0x01000193)
    let slot = (hash ^ (hash >>> 15)) & (slots - 1)
    for (let entry = entryOfSlot[slot]!; entry !== 0; entry = entryOfSlot[slot]!) {
      const begin = wordStarts[entry - 1]!
      if (wordStarts[entry]! - begin === length) {
        let same = 0
        while (same < length && units[begin + same] === text[start + same]) same++
        if (same === length) return known[entry - 1]!
      }
      slot = (slot + 1) & (slots - 1)
    }
    const tokens = encodeWord(textOf(text, start, end))
    // Clearing everything is rare, and cheaper than tracking usage on every lookup.
    if (known.length >= maxCachedWords) {
      clear()
      slot = (hash ^ (hash >>> 15)) & (slots - 1)
    }
    remember(slot, text, start, end, tokens)
    return tokens
  }
}
