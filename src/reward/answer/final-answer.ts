import { boxedAnswer } from './boxes.ts'

/** How far from the end of a long text statements are searched; boxes are found anywhere. */
const tailLength = 6_000

/**
 * Extracts the final answer from a text. Every checker, filter and evaluation uses this function:
 *
 * 1. the content of the last <answer> tag, or the text after the last </think>;
 * 2. the last \boxed{…}, or several joined by "and";
 * 3. the text after the last `####`;
 * 4. the text after the last "the answer is", "Answer:", "A:" or another label at the start of a line;
 * 5. the last line.
 *
 * It takes linear time.
 */
export function finalAnswer(text: string): string {
  const body = withoutMarkers(text)
  const tail = body.slice(-tailLength).trim()
  const found = marked(body, tail) ?? lastLines(withoutEmphasis(tail)).replace(label, '')
  return withoutUnbalancedBraces(found).trim()
}

/** The same, but only if the text marks its answer; undefined if only its last line is left. */
export function markedAnswer(text: string): string | undefined {
  const body = withoutMarkers(text)
  const found = marked(body, body.slice(-tailLength).trim()) ?? (body === text.trimEnd() ? undefined : body)
  return found === undefined ? undefined : withoutUnbalancedBraces(found).trim()
}

/** The content of the last `<tag>…</tag>`, closed or not; undefined if there is none. */
export function taggedAnswer(text: string, tag: string): string | undefined {
  const open = text.lastIndexOf(`<${tag}>`)
  if (open < 0) return undefined
  const body = text.slice(open + tag.length + 2)
  const close = body.indexOf(`</${tag}>`)
  return close < 0 ? body : body.slice(0, close)
}

/** Removes what models write around their answers: reasoning tags, end-of-turn tokens, and a made-up next question. */
function withoutMarkers(text: string): string {
  const afterThought = text.slice(text.lastIndexOf('</think>') + 1).replace(/^\/think>/, '')
  const withoutThought = afterThought.trim() === '' ? text : afterThought
  const tagged = taggedAnswer(withoutThought, 'answer')
  const body = tagged === undefined || tagged.trim() === '' ? withoutThought : tagged
  const ended = withoutEnd(body)
  const next = ended.search(/\n[ \t]{0,8}(?:Q|Question|Problem|Human|User) ?:/)
  const alone = next > 0 ? ended.slice(0, next) : ended
  return alone.trim() === '' ? ended : alone
}

function withoutEnd(text: string): string {
  let rest = text.trimEnd()
  for (;;) {
    const end = /(?:<\|[a-z_]{1,20}\|>|<\/s>|<eos>)$/i.exec(rest.slice(-30))
    if (end === null) return rest
    rest = rest.slice(0, -end[0].length).trimEnd()
  }
}

const announcement =
  /\banswers?\b(?:[ \t]*\([^()\n]{1,40}\))?[*_]{0,3}(?:[ \t]+(?:to|for|of)[^.:=\n]{1,80}?)?[ \t]*(?:is|are|was|will be|would be|should be|must be|=|:)(?![a-z])[ \t]*[*_]{0,3}(?:[ \t]*(?:that|therefore|thus|simply|equal to|approximately|about)\b)?[ \t]*:?/gi
/** One or a few words before a colon, at the start of a line: `A: 18`, `SOLUTION_FOUND: 100`, `Total cost: $5`. */
const label =
  /^[ \t>*_-]*[A-Za-z][A-Za-z_]*(?:[ \t]+[A-Za-z_]+){0,4}[*_]{0,3}[ \t]*:[ \t]*[*_]{0,3}[ \t]*(?=\S)/

function marked(body: string, tail: string): string | undefined {
  const found = boxedAnswer(body) ?? afterHashes(tail)
  if (found !== undefined) return found
  const plain = withoutEmphasis(tail)
  for (const match of [...plain.matchAll(announcement)].reverse()) {
    const rest = firstStatement(plain.slice(match.index + match[0].length))
    if (/[\p{L}\p{N}\\∅∞π]/u.test(rest)) return rest
  }
  return undefined
}

/** `#### 18` as in GSM8K; a heading with four hashes has words after it. */
function afterHashes(text: string): string | undefined {
  const marked = text.lastIndexOf('####')
  if (marked < 0) return undefined
  const line = firstStatement(text.slice(marked + 4).replace(/^#+/, ''))
  return /^[^\p{L}\n]*\d|^\S{1,20}$|^\\/u.test(line) ? withoutEmphasis(line) : undefined
}

/** Removes emphasis only where it cannot be a power: 2**3 is eight. */
function withoutEmphasis(text: string): string {
  return text
    .replace(/(^|[^\w)*])\*\*([^*\n]+)\*\*(?![\w(*])/g, '$1$2')
    .replace(/(^|[\s(])__([^_\n]+)__(?![\w(])/g, '$1$2')
    .replace(/_{2,}/g, ' ')
    .replaceAll('`', '')
}

/** Up to the end of the sentence, or the whole displayed formula that starts here. */
function firstStatement(text: string): string {
  const trimmed = text.replace(/^[\s:*_]+/, '')
  const display = /^(?:\\\[([\s\S]*?)\\\]|\$\$([\s\S]*?)\$\$)/.exec(trimmed)
  if (display !== null) return (display[1] ?? display[2] ?? '').trim()
  if (/^\$?\s*\\(?:left\s*[([]?\s*\\)?begin/.test(trimmed)) return trimmed
  const end = trimmed.indexOf('\n')
  return sentence((end < 0 ? trimmed : trimmed.slice(0, end)).trim())
}

/** The line of the last matrix, if nothing follows it. */
function lastFormula(text: string): string | undefined {
  const begin = text.lastIndexOf('\\begin')
  if (begin < 0) return undefined
  const end = text.lastIndexOf('\\end')
  const rest = text.slice(Math.max(begin, end)).replace(/^\\(?:begin|end)\s*\{[^{}]*\}/, '')
  if (end > begin && /[\p{L}\p{N}]{2}/u.test(rest)) return undefined
  // The formula may contain several matrices, so the line starts before the first.
  const first = text.indexOf('\\begin', Math.max(0, text.lastIndexOf('\n\n', begin)))
  return text.slice(text.lastIndexOf('\n', first) + 1)
}

/** Closing phrases after the answer. */
const closing = /^(?:i hope|hope|let me know|thank|feel free|please note|is there anything)/i

/** The last non-empty line; a displayed formula or a matrix may span several. */
function lastLines(text: string): string {
  const formula = lastFormula(text)
  if (formula !== undefined) return formula
  const display = /(?:\\\[([^[\]]*)\\\]|\$\$([^$]*)\$\$)[\s.]*$/.exec(text.slice(-1_000))
  if (display !== null) return (display[1] ?? display[2] ?? '').trim()
  const lines = text.split('\n').map((line) => line.trim())
  const isStatement = (line: string) => /[\p{L}\p{N}\\∅∞π]/u.test(line) && !closing.test(line)
  return lines.findLast(isStatement) ?? text
}

const abbreviation =
  /\b(?:approx|no|vs|etc|sq|ft|in|hr|min|sec|oz|lb|lbs|mr|mrs|dr|rs|st|e\.g|i\.e|a\.m|p\.m)$/i

/** Up to a period that ends a sentence, not a decimal point or an abbreviation. */
function sentence(text: string): string {
  for (const match of text.matchAll(/[.!?](?=\s|$)|\.(?=[A-Z][a-z])/g)) {
    const before = text.slice(0, match.index)
    if (match[0] === '!' && /[\d)]$/.test(before)) continue
    if (match[0] === '.' && abbreviation.test(before.slice(-12)) && match.index < text.length - 1) continue
    return before
  }
  return text
}

/** An unbalanced brace (`264}`, `\boxed{264`) is a typo and says nothing about the result. */
function withoutUnbalancedBraces(text: string): string {
  const unbalanced = new Set<number>()
  const open: number[] = []
  for (let i = 0; i < text.length; i++) {
    const character = text[i]
    if (character === '\\') i++
    else if (character === '{') open.push(i)
    else if (character === '}' && open.pop() === undefined) unbalanced.add(i)
  }
  for (const at of open) unbalanced.add(at)
  if (unbalanced.size === 0) return text
  const kept = text
    .split('')
    .filter((_, at) => !unbalanced.has(at))
    .join('')
  return kept.replace(/\\(?:boxed|fbox)(?!\s*\{)/g, '')
}
