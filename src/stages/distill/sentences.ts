/** The end of a sentence or of a line, with the white space behind it. One star, so that no input takes quadratic time. */
const END = /(?:[.!?。！？](?=\s)|\n)\s*/g

/**
 * Cuts a text into sentences and lines, each with the white space behind it; joined they are the text. A fenced block
 * is one piece, because a program without one of its lines is another program.
 */
export function sentences(text: string): string[] {
  const pieces: string[] = []
  let from = 0
  for (;;) {
    const fence = nextFence(text, from)
    cutUp(text, from, fence?.start ?? text.length, pieces)
    if (fence === undefined) return pieces
    pieces.push(text.slice(fence.start, fence.end))
    from = fence.end
  }
}

function cutUp(text: string, start: number, end: number, pieces: string[]): void {
  const part = start === 0 && end === text.length ? text : text.slice(start, end)
  let from = 0
  END.lastIndex = 0
  for (let match = END.exec(part); match !== null; match = END.exec(part)) {
    if (isNumbering(part, from, match.index)) continue
    pieces.push(part.slice(from, END.lastIndex))
    from = END.lastIndex
  }
  if (from < part.length) pieces.push(part.slice(from))
}

/** A fenced block that starts a line, up to the end of its closing line. */
function nextFence(text: string, from: number): { start: number; end: number } | undefined {
  let start = text.indexOf('```', from)
  while (start > 0 && text[start - 1] !== '\n') start = text.indexOf('```', start + 3)
  if (start === -1) return undefined
  const close = text.indexOf('\n```', start + 3)
  const line = close === -1 ? -1 : text.indexOf('\n', close + 4)
  return { start, end: line === -1 ? text.length : line + 1 }
}

/** "1." at the start of a line numbers what follows; it is no sentence. */
function isNumbering(text: string, from: number, stop: number): boolean {
  for (let at = from; at < stop; at++) {
    const code = text.charCodeAt(at)
    if (code < 48 || code > 57) return false
  }
  return stop > from && text[stop] === '.'
}
