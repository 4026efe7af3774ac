import { parseJson } from '../../schema/index.ts'

/**
 * Parses JSON from untrusted files. Unlike JSON.parse, it rejects duplicate names in an object (readers disagree on which
 * one counts) and excessive nesting. Throws a SyntaxError; the caller adds the file name.
 */
export function parseStrictJson(text: string, maxDepth: number): unknown {
  rejectDeepAndDuplicate(text, maxDepth)
  return parseJson(text)
}

/** Looks only at brackets and strings; other invalid JSON is left to the parser. */
function rejectDeepAndDuplicate(text: string, maxDepth: number): void {
  /** Names seen in each open object; undefined for an open array. */
  const open: (Set<string> | undefined)[] = []
  let position = 0
  while (position < text.length) {
    const character = text[position]
    if (character === '"') {
      const end = endOfString(text, position)
      const names = open.at(-1)
      if (names !== undefined && colonFollows(text, end)) {
        const name = nameOf(text.slice(position, end))
        if (names.has(name)) throw new SyntaxError(`duplicate name ${JSON.stringify(name.slice(0, 200))}`)
        names.add(name)
      }
      position = end
      continue
    }
    if (character === '{' || character === '[') {
      open.push(character === '{' ? new Set() : undefined)
      if (open.length > maxDepth) throw new SyntaxError(`nested more than ${maxDepth} levels deep`)
    } else if (character === '}' || character === ']') {
      open.pop()
    }
    position++
  }
}

/** The position after the closing quotation mark, or the end of the text if there is none. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(text, start, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end + 1
}

function isEscaped(text: string, start: number, position: number): boolean {
  let backslashes = 0
  while (position - 1 - backslashes > start && text[position - 1 - backslashes] === '\\') backslashes++
  return backslashes % 2 === 1
}

function colonFollows(text: string, position: number): boolean {
  let next = position
  while (' \t\n\r'.includes(text[next] ?? '.')) next++
  return text[next] === ':'
}

function nameOf(literal: string): string {
  return literal.includes('\\') ? String(JSON.parse(literal)) : literal.slice(1, -1)
}
