/** Prefer to cut at a line end within this distance. */
const LINE_END_DISTANCE = 80

/** Cuts the middle out of a long text, preferably at line ends, and notes how much was removed. */
export function cutMiddle(text: string, limit: number): { text: string; truncated: boolean } {
  if (text.length <= limit) return { text, truncated: false }
  const note = (left: number): string => `\n[… ${left} characters left out …]\n`
  const room = Math.max(0, limit - note(text.length).length)
  const head = headEnd(text, Math.ceil(room * 0.7))
  const tail = tailStart(text, text.length - Math.floor(room * 0.3))
  return { text: text.slice(0, head) + note(tail - head) + text.slice(tail), truncated: true }
}

/** Truncates a text without splitting a character. */
export function cutEnd(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, toCharacter(text, limit, -1))}…`
}

function headEnd(text: string, position: number): number {
  const line = text.lastIndexOf('\n', position)
  return line > 0 && position - line <= LINE_END_DISTANCE ? line : toCharacter(text, position, -1)
}

function tailStart(text: string, position: number): number {
  const line = text.indexOf('\n', position)
  return line >= 0 && line - position <= LINE_END_DISTANCE ? line + 1 : toCharacter(text, position, 1)
}

/** A position that does not split a surrogate pair. */
function toCharacter(text: string, position: number, direction: -1 | 1): number {
  const splits = isHigh(text.charCodeAt(position - 1)) && isLow(text.charCodeAt(position))
  return splits ? position + direction : position
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff
}
