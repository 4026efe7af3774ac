import { TokenizerError } from '../../base/errors/index.ts'
import { type AlignedText, applyEdits, type Edit } from './aligned-text.ts'

export type UnicodeForm = 'NFC' | 'NFD' | 'NFKC' | 'NFKD'

/**
 * What can join the character before it: marks, Hangul vowels and final consonants, and the Kirat Rai vowel
 * signs, which are letters yet compose. Unicode's own table of this (Quick_Check, combining class) is not
 * reachable from JavaScript, so the result is checked against the whole text below.
 */
const joinsPrevious = /^[\p{M}\u1160-\u11ff\ud7b0-\ud7ff\u{16d63}-\u{16d6a}]/u

const memory: Record<'NFD' | 'NFKD', Map<number, boolean>> = { NFD: new Map(), NFKD: new Map() }

/** True when normalising may merge the character with what stands before it; known by how it decomposes. */
function mayJoinPrevious(character: number, decomposition: 'NFD' | 'NFKD'): boolean {
  if (character < 0x300) return false
  const known = memory[decomposition].get(character)
  if (known !== undefined) return known
  const answer = joinsPrevious.test(String.fromCodePoint(character).normalize(decomposition))
  memory[decomposition].set(character, answer)
  return answer
}

/**
 * Normalises with the way back kept. The text is cut wherever two neighbours cannot influence each other; each
 * piece that changes is one edit, so its characters all come from the whole piece. The Rust library points a
 * composed character at its base only; here the marks are covered too, or a mark from an observation could be
 * trained on unseen.
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
    throw new TokenizerError(`Characters could not be traced through ${form} normalisation.`, {
      fix: `Normalise the text to ${form} before it is tokenised, and report the text.`,
    })
  }
  return result
}

const longestRefined = 32

/**
 * Cuts a changed piece once more, wherever its two sides normalise on their own to the same result: what the
 * rule above takes for joined may not be (a mark that composes only with the mark after it). Long piles of marks
 * are left whole; trying every cut would be quadratic.
 */
function pushPieceEdits(edits: Edit[], base: number, piece: string, normal: string, form: UnicodeForm): void {
  const whole = { start: base, end: base + piece.length, text: normal }
  if (piece.length > longestRefined) {
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
