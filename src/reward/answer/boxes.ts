interface Box {
  /** Offset of `\boxed`, and of the text after the box. */
  start: number
  end: number
  content: string
}

const opening = /\\(?:boxed|fbox|framebox)(?![a-zA-Z])/g
/** Allowed between two boxes that form one answer: `\boxed{3} and \boxed{4}`, `x = \boxed{1}, y = \boxed{2}`. */
const separator =
  /^(?:[\s$.,;:()[\]\\]|\\text\s*\{\s*(?:and|or)\s*\}|\\quad|\\qquad|\band\b|\bor\b|\b[a-zA-Z]\s*=)*$/
const maxSeparatorLength = 60
/** Limits, so that a text full of unclosed boxes takes linear time. */
const boxLimit = 50
const contentLimit = 20_000

/** The content of the last \boxed{…}, including nested braces. */
export function lastBox(text: string): string | undefined {
  return boxesIn(text).at(-1)?.content
}

/**
 * The boxed answer: the last box, including a minus sign before it and a percent sign after it, and the preceding
 * boxes that belong to the same statement.
 */
export function boxedAnswer(text: string): string | undefined {
  const boxes = boxesIn(text)
  const last = boxes.at(-1)
  if (last === undefined) return undefined
  const parts = [withSignAndPercent(text, last)]
  for (let index = boxes.length - 1; index > 0; index--) {
    const [before, box] = [boxes[index - 1]!, boxes[index]!]
    const between = text.slice(before.end, box.start)
    if (between.length > maxSeparatorLength || !separator.test(between) || !/and|or|,|;|=/.test(between))
      break
    parts.unshift(withSignAndPercent(text, before))
  }
  return [...new Set(parts)].join(', ')
}

/** Non-empty boxes with balanced braces, in order of appearance; nested ones are skipped. */
function boxesIn(text: string): Box[] {
  const starts = [...text.matchAll(opening)].slice(-boxLimit)
  const boxes: Box[] = []
  let end = 0
  for (const match of starts) {
    const start = match.index
    if (start < end) continue
    const found = boxAt(text, start, start + match[0].length)
    if (found === undefined) continue
    end = found.end
    if (found.content.trim() !== '') boxes.push(found)
  }
  return boxes
}

function boxAt(text: string, start: number, after: number): Box | undefined {
  const bare = /^\s*([^\s{}\\$.,]+)/.exec(text.slice(after, after + 60))
  const open = text.slice(after, after + 20).search(/\S/) + after
  if (text[open] !== '{') {
    const content = bare?.[1] ?? ''
    return { start, end: after + (bare?.[0].length ?? 0), content }
  }
  let depth = 0
  for (let at = open; at < Math.min(text.length, open + contentLimit); at++) {
    const character = text[at]
    if (character === '\\') at++
    else if (character === '{') depth++
    else if (character === '}' && --depth === 0)
      return { start, end: at + 1, content: text.slice(open + 1, at) }
  }
  return undefined
}

/** `-\boxed{256}` is a negative number, but the minus in `9 - \boxed{4}` is part of a calculation. */
function withSignAndPercent(text: string, { start, end, content }: Box): string {
  const before = text.slice(Math.max(0, start - 40), start).trimEnd()
  const isNegative = /(?:^|[=:({[$,]|\\[([]|\b(?:is|or|and|be)|\n)\s*[$]*\s*[-\u2212]$/.test(before)
  const isPercent = /^\s*\$?\s*\\?%/.test(text.slice(end, end + 10))
  return `${isNegative ? '-' : ''}${content.trim()}${isPercent && !content.includes('%') ? '\\%' : ''}`
}
