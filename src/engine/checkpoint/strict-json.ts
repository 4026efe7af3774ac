import { parseJson } from '../../schema/index.ts'

/**
 * JSON from files of unknown origin. Beyond what JSON.parse refuses, a name that is given twice in one object is
 * refused (JSON.parse would take the last one, another reader the first), and so is nesting deeper than asked for.
 * Throws a SyntaxError, which the caller turns into an error that names the file.
 */
export function parseStrictJson(text: string, maxDepth: number): unknown {
  refuseDeepAndDoubled(text, maxDepth)
  return parseJson(text)
}

/** Sees brackets and strings only; text that is not JSON passes here and is refused by the parser. */
function refuseDeepAndDoubled(text: string, maxDepth: number): void {
  /** The names seen in each open object; undefined for an open list. */
  const open: (Set<string> | undefined)[] = []
  let place = 0
  while (place < text.length) {
    const character = text[place]
    if (character === '"') {
      const end = endOfString(text, place)
      const names = open.at(-1)
      if (names !== undefined && colonFollows(text, end)) {
        const name = nameOf(text.slice(place, end))
        if (names.has(name)) throw new SyntaxError(`${JSON.stringify(name.slice(0, 200))} is given twice`)
        names.add(name)
      }
      place = end
      continue
    }
    if (character === '{' || character === '[') {
      open.push(character === '{' ? new Set() : undefined)
      if (open.length > maxDepth) throw new SyntaxError(`it is nested more than ${maxDepth} levels deep`)
    } else if (character === '}' || character === ']') {
      open.pop()
    }
    place++
  }
}

/** The place after the closing quotation mark, or the end of the text where there is none. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(text, start, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end + 1
}

function isEscaped(text: string, start: number, place: number): boolean {
  let backslashes = 0
  while (place - 1 - backslashes > start && text[place - 1 - backslashes] === '\\') backslashes++
  return backslashes % 2 === 1
}

function colonFollows(text: string, place: number): boolean {
  let next = place
  while (' \t\n\r'.includes(text[next] ?? '.')) next++
  return text[next] === ':'
}

function nameOf(literal: string): string {
  return literal.includes('\\') ? String(JSON.parse(literal)) : literal.slice(1, -1)
}
