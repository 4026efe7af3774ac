import { TokenizerError } from '../../base/errors/index.ts'
import { type AlignedText, applyEdits, type Edit } from './aligned-text.ts'

/**
 * SentencePiece's normalization table (T5, XLM-R and other Unigram models): a double-array trie over UTF-8 and the
 * replacements it points to. The JavaScript library only approximates it with NFKC; this reads the table itself, like
 * the Rust library, including its quirks (the shortest entry that starts a grapheme replaces the whole grapheme).
 */
export function precompiledNormalizer(charsmap: unknown): (text: AlignedText) => AlignedText {
  if (charsmap === null || charsmap === undefined || charsmap === '') return (text) => text
  const lookup = readTable(Buffer.from(String(charsmap), 'base64'))
  const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })
  return (aligned) => {
    const edits: Edit[] = []
    const replace = (start: number, part: string): boolean => {
      const found = lookup(part)
      if (found === undefined) return false
      if (found !== part) edits.push({ start, end: start + part.length, text: found })
      return true
    }
    for (const [from, to] of nonAsciiRanges(aligned.text)) {
      for (const { segment, index } of graphemes.segment(aligned.text.slice(from, to))) {
        if (Buffer.byteLength(segment) < 6 && replace(from + index, segment)) continue
        let position = from + index
        for (const character of segment) {
          replace(position, character)
          position += character.length
        }
      }
    }
    return applyEdits(aligned, edits)
  }
}

/**
 * The ranges of a text that the table could change: everything except printable ASCII, plus one character on either
 * side, which may be part of the grapheme. Segmentation is slow, and most text is ASCII.
 */
function* nonAsciiRanges(text: string): Generator<[number, number]> {
  let start = -1
  let last = -2
  for (let index = 0; index <= text.length; index++) {
    const unit = index < text.length ? text.charCodeAt(index) : 0x20
    if (unit < 0x20 || unit > 0x7e) {
      if (start < 0) start = Math.max(0, index - 1)
      last = index
    } else if (start >= 0 && (index - last > 2 || index === text.length)) {
      yield [start, Math.min(text.length, last + 2)]
      start = -1
    }
  }
}

function readTable(table: Buffer): (part: string) => string | undefined {
  const trieBytes = table.length < 4 ? Number.POSITIVE_INFINITY : table.readUInt32LE(0)
  if (trieBytes % 4 !== 0 || 4 + trieBytes > table.length) {
    throw new TokenizerError('The precompiled normalization table of the tokenizer is damaged.', {
      fix: 'Download tokenizer.json again.',
    })
  }
  const trie = new Uint32Array(trieBytes / 4)
  for (let index = 0; index < trie.length; index++) trie[index] = table.readUInt32LE(4 + 4 * index)
  const replacements = table.subarray(4 + trieBytes)
  const childOffset = (unit: number): number => (unit >>> 10) << ((unit & 0x200) >>> 6)
  const root = childOffset(trie[0] ?? 0)
  return (part) => {
    let node = root
    for (const byte of Buffer.from(part)) {
      if (byte === 0) return undefined
      node ^= byte
      const unit = trie[node]
      if (unit === undefined || (unit & 0x800000ff) >>> 0 !== byte) return undefined
      node ^= childOffset(unit)
      if ((unit & 0x100) !== 0) {
        const start = (trie[node] ?? 0) & 0x7fffffff
        return replacements.toString('utf8', start, replacements.indexOf(0, start))
      }
    }
    return undefined
  }
}
