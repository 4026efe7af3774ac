/** Two columns of lines. Colors do not count as width. */
export function sideBySide(left: readonly string[], right: readonly string[], leftWidth: number): string {
  const lines: string[] = []
  for (let row = 0; row < Math.max(left.length, right.length); row++) {
    const cell = left[row] ?? ''
    lines.push(`${cell}${' '.repeat(Math.max(0, leftWidth - widthOf(cell)))} │ ${right[row] ?? ''}`.trimEnd())
  }
  return lines.join('\n')
}

/** A text in lines of at most so many columns, cut at spaces where there are any. */
export function wrap(text: string, width: number): string[] {
  return printable(text)
    .split('\n')
    .flatMap((line) => wrapLine(line, width))
}

function wrapLine(line: string, width: number): string[] {
  const lines: string[] = []
  let current = ''
  for (const word of line.split(' ')) {
    const longer = current === '' ? word : `${current} ${word}`
    if (widthOf(longer) <= width) {
      current = longer
      continue
    }
    if (current !== '') lines.push(current)
    const pieces = cut(word, width)
    current = pieces.pop() ?? ''
    lines.push(...pieces)
  }
  return [...lines, current]
}

/** A word longer than a line, such as an address. */
function cut(word: string, width: number): string[] {
  const pieces: string[] = []
  let piece = ''
  let used = 0
  for (const character of word) {
    const columns = columnsOf(character)
    if (used + columns > width) {
      pieces.push(piece)
      piece = ''
      used = 0
    }
    piece += character
    used += columns
  }
  return [...pieces, piece]
}

/** Recorded text may hold anything; a terminal must not obey it. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
  return text.replaceAll('\t', '  ').replaceAll(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, '')
}

function widthOf(text: string): number {
  let width = 0
  // biome-ignore lint/suspicious/noControlCharactersInRegex: color codes are made of them
  for (const character of text.replaceAll(/\u001b\[[0-9;]*m/g, '')) width += columnsOf(character)
  return width
}

/** East Asian wide characters and emoji take two columns; marks that combine take none. */
function columnsOf(character: string): number {
  const code = character.codePointAt(0)!
  if (code < 0x300) return 1
  if (/\p{M}/u.test(character)) return 0
  return (code >= 0x1100 && code <= 0x115f) ||
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0x1f300 && code <= 0x1faff) ||
    code >= 0x20000
    ? 2
    : 1
}
