import { textOf } from './units.ts'
import type { EncodeWord, WordTokens } from './words.ts'

/** The tokens of the word that stands in a range of a text, given in its UTF-16 units. */
export type EncodeWordAt = (text: Uint16Array, start: number, end: number) => WordTokens

const longestCachedWord = 48
const mostCachedWords = 65_536
/** Twice as many slots as words, so that a free one is always near. */
const slots = 2 * mostCachedWords

/**
 * Remembers words: natural text repeats them, so most cost one look-up instead of a merge. They are looked up where they
 * stand; a Map would need a string for every word, which costs more than all the rest.
 */
export function cachedWords(encodeWord: EncodeWord): EncodeWordAt {
  /** The number of the entry in each slot, plus one; 0 for a free slot. */
  const entryOfSlot = new Int32Array(slots)
  const known: WordTokens[] = []
  /** All known words in one row, each with where it begins. */
  let units = new Uint16Array(mostCachedWords)
  const begins = new Int32Array(mostCachedWords + 1)

  const forget = (): void => {
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
    const begin = begins[known.length]!
    if (begin + end - start > units.length) {
      const larger = new Uint16Array(2 * units.length)
      larger.set(units)
      units = larger
    }
    units.set(text.subarray(start, end), begin)
    known.push(tokens)
    begins[known.length] = begin + end - start
    entryOfSlot[slot] = known.length
  }

  return (text, start, end) => {
    const length = end - start
    if (length > longestCachedWord) return encodeWord(textOf(text, start, end))
    // FNV-1a, with its high bits folded into the low ones that pick the slot.
    let hash = 0x811c9dc5
    for (let index = start; index < end; index++) hash = Math.imul(hash ^ text[index]!, 0x01000193)
    let slot = (hash ^ (hash >>> 15)) & (slots - 1)
    for (let entry = entryOfSlot[slot]!; entry !== 0; entry = entryOfSlot[slot]!) {
      const begin = begins[entry - 1]!
      if (begins[entry]! - begin === length) {
        let same = 0
        while (same < length && units[begin + same] === text[start + same]) same++
        if (same === length) return known[entry - 1]!
      }
      slot = (slot + 1) & (slots - 1)
    }
    const tokens = encodeWord(textOf(text, start, end))
    // Emptying it all is rare and cheaper than keeping an order of use on every look-up.
    if (known.length >= mostCachedWords) {
      forget()
      slot = (hash ^ (hash >>> 15)) & (slots - 1)
    }
    remember(slot, text, start, end, tokens)
    return tokens
  }
}
