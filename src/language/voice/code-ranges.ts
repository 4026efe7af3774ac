/** A half-open range of a text. */
export interface Range {
  start: number
  end: number
}

const FENCE = /```|~~~/g

/**
 * Where a text has code: fenced blocks, even in the middle of a line (an open one reaches to the end), and inline code.
 * In ascending order.
 */
export function codeRanges(text: string): Range[] {
  const ranges: Range[] = []
  let from = 0
  FENCE.lastIndex = 0
  for (let fence = FENCE.exec(text); fence !== null; fence = FENCE.exec(text)) {
    inlineCode(text, from, fence.index, ranges)
    const close = text.indexOf(fence[0], FENCE.lastIndex)
    from = close === -1 ? text.length : close + fence[0].length
    ranges.push({ start: fence.index, end: from })
    FENCE.lastIndex = from
  }
  inlineCode(text, from, text.length, ranges)
  return ranges
}

/** Each pair of backticks is looked at once, so that no input takes quadratic time. */
function inlineCode(text: string, from: number, end: number, ranges: Range[]): void {
  let start = text.indexOf('`', from)
  while (start !== -1 && start < end) {
    const close = text.indexOf('`', start + 1)
    if (close === -1 || close >= end) return
    const isClosed = !text.slice(start, close).includes('\n')
    if (isClosed) ranges.push({ start, end: close + 1 })
    start = isClosed ? text.indexOf('`', close + 1) : close
  }
}

/** Tells whether ranges, asked for in ascending order, overlap one of these. */
export function overlapping(ranges: readonly Range[]): (start: number, end: number) => boolean {
  let at = 0
  return (start, end) => {
    while (at < ranges.length && ranges[at]!.end <= start) at++
    return at < ranges.length && ranges[at]!.start < end
  }
}
