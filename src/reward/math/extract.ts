/** How far from the end of a long answer sentences are looked at; boxes are found anywhere. */
const tailLength = 4_000
/** Longer final answers are not read: no benchmark has any, and reading them costs time. */
export const answerLength = 2_000

/**
 * The part of an answer that is its result: the last box, what follows `####` or "answer is", or all of it. A brace without
 * its other half (`264}`, `\boxed{264`) is a slip of the pen and says nothing about the result.
 */
export function extractFinal(answer: string): string {
  return withoutLoneBraces(finalPart(answer)).trim()
}

function withoutLoneBraces(text: string): string {
  const lone = new Set<number>()
  const open: number[] = []
  for (let i = 0; i < text.length; i++) {
    const character = text[i]
    if (character === '\\') i++
    else if (character === '{') open.push(i)
    else if (character === '}' && open.pop() === undefined) lone.add(i)
  }
  for (const at of open) lone.add(at)
  if (lone.size === 0) return text
  const kept = text
    .split('')
    .filter((_, at) => !lone.has(at))
    .join('')
  return kept.replace(/\\(?:boxed|fbox)(?!\s*\{)/g, '')
}

function finalPart(answer: string): string {
  const box = lastBox(answer)
  if (box !== undefined) return box.trim()
  const tail = answer.slice(-tailLength).trim()
  const marked = tail.lastIndexOf('####')
  if (marked >= 0) return firstLine(tail.slice(marked + 4))
  // Emphasis only where it cannot be a power: 2**3 is eight.
  const plain = tail.replace(/(^|[^\w)*])\*\*([^*\n]+)\*\*(?![\w(*])/g, '$1$2').replaceAll('`', '')
  const announced = /.*\banswer(?: is|:| =)[ \t]*:?/is.exec(plain)
  if (announced !== null) {
    const rest = firstLine(plain.slice(announced[0].length))
    if (rest !== '') return sentence(rest)
  }
  return plain.includes('\\begin') ? plain : lastLine(plain)
}

/** The content of the last \boxed{…} whose braces close. */
function lastBox(text: string): string | undefined {
  for (let end = text.length; end > 0; ) {
    const start = Math.max(text.lastIndexOf('\\boxed', end - 1), text.lastIndexOf('\\fbox', end - 1))
    if (start < 0) return undefined
    const open = text.indexOf('{', start)
    const isNear = open >= 0 && /^\\(?:boxed|fbox)\s*$/.test(text.slice(start, Math.min(open, start + 20)))
    const content = isNear ? balanced(text, open) : undefined
    if (content !== undefined) return content
    // A box that is cut off hides no earlier one, but the search for its end must not be repeated for each.
    if (isNear) return undefined
    end = start
  }
  return undefined
}

function balanced(text: string, open: number): string | undefined {
  let depth = 0
  for (let i = open; i < text.length; i++) {
    const character = text[i]
    if (character === '\\') i++
    else if (character === '{') depth++
    else if (character === '}' && --depth === 0) return text.slice(open + 1, i)
  }
  return undefined
}

function firstLine(text: string): string {
  const trimmed = text.trimStart()
  const end = trimmed.indexOf('\n')
  return (end < 0 ? trimmed : trimmed.slice(0, end)).trim()
}

const lastLine = (text: string): string => text.slice(text.lastIndexOf('\n') + 1).trim()

/** Up to a full stop that ends a sentence: one before white space or at the end, not the point of a decimal. */
function sentence(text: string): string {
  const end = text.search(/\.(?:\s|$)/)
  return end < 0 ? text : text.slice(0, end)
}
