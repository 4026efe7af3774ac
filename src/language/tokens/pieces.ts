import type { AlignedText } from './aligned-text.ts'
import { UnitReader } from './units.ts'
import type { WordScanner } from './word-scanner.ts'

/** A text split into pre-tokens: `texts[i]` is at `starts[i]` of `source.text`. Gaps are dropped characters. */
export interface Pieces {
  readonly source: AlignedText
  readonly texts: string[]
  readonly starts: number[]
}

export type SplitBehavior = 'removed' | 'isolated' | 'mergedwithprevious' | 'mergedwithnext' | 'contiguous'

export function onePiece(source: AlignedText): Pieces {
  return source.text === ''
    ? { source, texts: [], starts: [] }
    : { source, texts: [source.text], starts: [0] }
}

/** Splits every piece at the matches of a pattern. */
export function splitPieces(
  pieces: Pieces,
  pattern: RegExp,
  behavior: SplitBehavior,
  invert: boolean,
): Pieces {
  const texts: string[] = []
  const starts: number[] = []
  pieces.texts.forEach((text, index) => {
    const base = pieces.starts[index]!
    if (behavior === 'isolated' && pushIfGapless(text, base, pattern, texts, starts)) return
    for (const range of mergeRanges(matchRanges(text, pattern, invert), behavior)) {
      texts.push(text.slice(range.start, range.end))
      starts.push(base + range.start)
    }
  })
  return { source: pieces.source, texts, starts }
}

const reader = new UnitReader()

/** Splits every piece at the word ends found by a scanner. */
export function scanPieces(pieces: Pieces, wordEnd: WordScanner): Pieces {
  const texts: string[] = []
  const starts: number[] = []
  pieces.texts.forEach((text, index) => {
    const base = pieces.starts[index]!
    const units = reader.read(text)
    for (let start = 0; start < text.length; ) {
      const end = wordEnd(units, start)
      texts.push(text.slice(start, end))
      starts.push(base + start)
      start = end
    }
  })
  return { source: pieces.source, texts, starts }
}

/**
 * The usual case, a pattern that matches everything: one call finds all matches, and positions are cumulative
 * lengths.
 */
function pushIfGapless(
  text: string,
  base: number,
  pattern: RegExp,
  texts: string[],
  starts: number[],
): boolean {
  const matches = text.match(pattern)
  if (matches === null) return false
  let total = 0
  for (const match of matches) {
    if (match.length === 0) return false
    total += match.length
  }
  if (total !== text.length) return false
  let start = base
  for (const match of matches) {
    texts.push(match)
    starts.push(start)
    start += match.length
  }
  return true
}

interface Range {
  start: number
  end: number
  matched: boolean
}

function matchRanges(text: string, pattern: RegExp, invert: boolean): Range[] {
  const ranges: Range[] = []
  let open = 0
  for (const match of text.matchAll(pattern)) {
    if (match[0].length === 0) continue
    if (open < match.index) ranges.push({ start: open, end: match.index, matched: invert })
    open = match.index + match[0].length
    ranges.push({ start: match.index, end: open, matched: !invert })
  }
  if (open < text.length) ranges.push({ start: open, end: text.length, matched: invert })
  return ranges
}

function mergeRanges(ranges: Range[], behavior: SplitBehavior): Range[] {
  switch (behavior) {
    case 'removed':
      return ranges.filter((range) => !range.matched)
    case 'isolated':
      return ranges
    case 'contiguous':
      return mergeWhere(ranges, (left, right) => left.matched === right.matched)
    case 'mergedwithprevious':
      return mergeWhere(ranges, (left, right) => right.matched && !left.matched)
    case 'mergedwithnext':
      return mergeWhere(ranges.toReversed(), (right, left) => left.matched && !right.matched).toReversed()
  }
}

/** Joins neighbors; `matched` of a joined range is that of the last one, as in the Rust library. */
function mergeWhere(ranges: Range[], joins: (previous: Range, next: Range) => boolean): Range[] {
  const merged: Range[] = []
  for (const range of ranges) {
    const last = merged.at(-1)
    if (last !== undefined && joins(last, range)) {
      last.start = Math.min(last.start, range.start)
      last.end = Math.max(last.end, range.end)
      last.matched = range.matched
    } else merged.push({ ...range })
  }
  return merged
}
