import { TokenizerError } from '../../base/errors/index.ts'
import { type AlignedText, applyEdits, type Edit } from './aligned-text.ts'

export type UnicodeForm = 'NFC' | 'NFD' | 'NFKC' | 'NFKD'

/**
 * Characters that can combine with the preceding one: marks, Hangul vowels and final consonants, and the Kirat Rai
 * vowel signs, which are letters yet compose. Unicode's own data for this (Quick_Check, combining class) is not
 * available in JavaScript, so the result is checked against the whole text below.
 */
const joinsPrevious = /^[\p{M}\u1160-\u11ff\ud7b0-\ud7ff\u{16d63}-\u{16d6a}]/u

const cache: Record<'NFD' | 'NFKD', Map<number, boolean>> = { NFD: new Map(), NFKD: new Map() }

/** Whether normalization may merge the character with the preceding text, based on its decomposition. */
function mayJoinPrevious(character: number, decomposition: 'NFD' | 'NFKD'): boolean {
  if (character < 0x300) return false
  const known = cache[decomposition].get(character)
  if (known !== undefined) return known
  const answer = joinsPrevious.test(String.fromCodePoint(character).normalize(decomposition))
  cache[decomposition].set(character, answer)
  return answer
}

/**
 * Normalizes while keeping the mapping to the original. The text is split wherever two neighbors cannot influence
 * each other; each changed piece is one edit, so its characters all map to the whole piece. The Rust library maps a
 * composed character to its base only; here the marks are included too, otherwise a mark from an observation could
 * get a loss unnoticed.
 */
export function normalizeForm(aligned: AlignedText, form: UnicodeForm): AlignedText {
  const { text } = aligned
  const whole = text.normalize(form)
  if (whole === text) return aligned
  const decomposition = form === 'NFC' || form === 'NFD' ? 'NFD' : 'NFKD'
  const edits: Edit[] = []
  let start = 0
  while (start < text.length) {
    let end = start + widthAt(text, start)
    while (end < text.length && mayJoinPrevious(text.codePointAt(end)!, decomposition))
      end += widthAt(text, end)
    if (end - start > 1 || text.charCodeAt(start) > 0x7f) {
      const piece = text.slice(start, end)
      const normal = piece.normalize(form)
      if (normal !== piece) pushPieceEdits(edits, start, piece, normal, form)
    }
    start = end
  }
  const result = applyEdits(aligned, edits)
  if (result.text !== whole) {
    throw new TokenizerError(`Characters could not be mapped through ${form} normalization.`, {
      fix: `Normalize the text to ${form} before tokenizing it, and report the text.`,
    })
  }
  return result
}

const maxRefinedLength = 32

/**
 * Splits a changed piece further, wherever its two sides normalize separately to the same result: the rule above is
 * conservative (a mark may compose only with the mark after it). Long stacks of marks are not split; trying every
 * position would be quadratic.
 */
function pushPieceEdits(edits: Edit[], base: number, piece: string, normal: string, form: UnicodeForm): void {
  const whole = { start: base, end: base + piece.length, text: normal }
  if (piece.length > maxRefinedLength) {
    edits.push(whole)
    return
  }
  const found: Edit[] = []
  let joined = ''
  let start = 0
  let cut = 0
  while (cut < piece.length) {
    cut += widthAt(piece, cut)
    if (piece.slice(0, cut).normalize(form) + piece.slice(cut).normalize(form) !== normal) continue
    const part = piece.slice(start, cut)
    const text = part.normalize(form)
    if (text !== part) found.push({ start: base + start, end: base + cut, text })
    joined += text
    start = cut
  }
  if (joined === normal) edits.push(...found)
  else edits.push(whole)
}

function widthAt(text: string, index: number): number {
  return text.codePointAt(index)! > 0xffff ? 2 : 1
}
