import { checkGrowth } from './growth-limit.ts'

/**
 * Text being processed by a tokenizer, with a mapping back to the original. Unit i of `text` came from the units
 * [starts[i], ends[i]) of the original; if both arrays are null, from [base + i, base + i + 1). All positions are
 * UTF-16 units.
 */
export interface AlignedText {
  readonly text: string
  readonly base: number
  readonly starts: Int32Array | null
  readonly ends: Int32Array | null
}

/** Replaces [start, end) of a text with `text`. */
export interface Edit {
  start: number
  end: number
  text: string
}

export function plainText(text: string, base: number): AlignedText {
  return { text, base, starts: null, ends: null }
}

export function originalStart(aligned: AlignedText, index: number): number {
  return aligned.starts === null ? aligned.base + index : aligned.starts[index]!
}

/** The original end position of the unit at `index`. */
export function originalEnd(aligned: AlignedText, index: number): number {
  return aligned.ends === null ? aligned.base + index + 1 : aligned.ends[index]!
}

export function slice(aligned: AlignedText, start: number, end: number): AlignedText {
  if (start === 0 && end === aligned.text.length) return aligned
  return {
    text: aligned.text.slice(start, end),
    base: aligned.base + start,
    starts: aligned.starts?.subarray(start, end) ?? null,
    ends: aligned.ends?.subarray(start, end) ?? null,
  }
}

/** Replaces characters one for one: the mapping stays the same. */
export function withText(aligned: AlignedText, text: string): AlignedText {
  return text === aligned.text ? aligned : { ...aligned, text }
}

/**
 * Applies edits that are in order and do not overlap. Replacement text maps to everything it replaced. Text inserted
 * before a character (a dummy prefix) maps to that character, as in the Rust library, so a prefix belongs to what
 * follows it; inserted at the end of the text it has no width.
 */
export function applyEdits(aligned: AlignedText, edits: readonly Edit[]): AlignedText {
  if (edits.length === 0) return aligned
  const source = aligned.text
  let length = source.length
  for (const edit of edits) length += edit.text.length - (edit.end - edit.start)
  if (source !== '') checkGrowth(length, originalEnd(aligned, source.length - 1) - originalStart(aligned, 0))
  const starts = new Int32Array(length)
  const ends = new Int32Array(length)
  const parts: string[] = []
  let read = 0
  let write = 0
  const copyUntil = (end: number): void => {
    if (read < end) parts.push(source.slice(read, end))
    for (; read < end; read++, write++) {
      starts[write] = originalStart(aligned, read)
      ends[write] = originalEnd(aligned, read)
    }
  }
  for (const edit of edits) {
    copyUntil(edit.start)
    const [from, to] =
      edit.start < edit.end
        ? rangeOf(aligned, edit.start, edit.end)
        : rangeOfNextCharacter(aligned, edit.start)
    starts.fill(from, write, write + edit.text.length)
    ends.fill(to, write, write + edit.text.length)
    parts.push(edit.text)
    write += edit.text.length
    read = edit.end
  }
  copyUntil(source.length)
  return { text: parts.join(''), base: aligned.base, starts, ends }
}

function rangeOf(aligned: AlignedText, start: number, end: number): [number, number] {
  return [originalStart(aligned, start), originalEnd(aligned, end - 1)]
}

function rangeOfNextCharacter(aligned: AlignedText, index: number): [number, number] {
  const character = aligned.text.codePointAt(index)
  if (character !== undefined) return rangeOf(aligned, index, index + (character > 0xffff ? 2 : 1))
  const end = index === 0 ? aligned.base : originalEnd(aligned, index - 1)
  return [end, end]
}

/** Replaces every match with the function's result. */
export function mapMatches(
  aligned: AlignedText,
  pattern: RegExp,
  replacement: (match: string) => string,
): AlignedText {
  const edits: Edit[] = []
  for (const match of aligned.text.matchAll(pattern)) {
    const text = replacement(match[0])
    if (text !== match[0]) edits.push({ start: match.index, end: match.index + match[0].length, text })
  }
  return applyEdits(aligned, edits)
}
