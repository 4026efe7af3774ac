const plain = /^[\x20-\x7e]*$/
/** Scripts and symbols that are two terminal cells wide. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|\ufe0f|[\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]/u
/** Combining marks and invisible characters. */
const hidden = /^[\p{Mark}\p{Format}\u200b]+$/u
const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Width of a text in terminal cells. An approximation: terminals do not agree with each other. */
export function widthOf(text: string): number {
  if (plain.test(text)) return text.length
  let width = 0
  for (const { segment } of segmenter.segment(text)) width += widthOfCharacter(segment)
  return width
}

function widthOfCharacter(character: string): number {
  if (hidden.test(character)) return 0
  return wide.test(character) ? 2 : 1
}

/** The text, cut to fit and then ending with "…". */
export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  if (columns < 1) return ''
  return `${beginning(text, columns - 1)}…`
}

/** Wraps a text without line breaks, at spaces if there are any in the second half of the line. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = []
  let rest = text
  while (widthOf(rest) > columns) {
    // A character may be wider than the line.
    const most = beginning(rest, columns) || [...rest][0]!
    const space = most.lastIndexOf(' ')
    const line = space > most.length / 2 ? most.slice(0, space + 1) : most
    lines.push(line.trimEnd())
    rest = rest.slice(line.length)
  }
  return [...lines, rest]
}

function beginning(text: string, columns: number): string {
  if (plain.test(text)) return text.slice(0, columns)
  let [width, end] = [0, 0]
  for (const { segment, index } of segmenter.segment(text)) {
    width += widthOfCharacter(segment)
    if (width > columns) break
    end = index + segment.length
  }
  return text.slice(0, end)
}
