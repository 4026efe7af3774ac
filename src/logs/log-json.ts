import { parseJson } from '../schema/index.ts'

const STRING_OR_NO_NUMBER = /"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/g

/** JSON as programs write it: Python also writes `NaN` and `Infinity`, which become null. */
export function parseLogJson(text: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    if (!/NaN|Infinity/.test(text) || !hasClosedStrings(text)) throw error
    return parseJson(text.replace(STRING_OR_NO_NUMBER, (token) => (token.startsWith('"') ? token : 'null')))
  }
}

/** Patterns of strings take quadratic time if a string has no end. */
function hasClosedStrings(text: string): boolean {
  let inside = false
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') inside = !inside
    else if (inside && text[at] === '\\') at++
  }
  return !inside
}

const CLOSING: Readonly<Record<string, string>> = { '[': ']', '{': '}' }

/**
 * What is left of JSON that ends early, as after a crash: the outermost list that has whole elements is cut after the
 * last of them, and everything is closed. Undefined if there is none.
 */
export function completedJson(text: string): unknown {
  const open: { bracket: string; end: number | undefined }[] = []
  let inside = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (inside) {
      if (character === '\\') at++
      else if (character === '"') inside = false
    } else if (character === '"') inside = true
    else if (character in CLOSING) open.push({ bracket: character, end: undefined })
    else if (character === ']' || character === '}') {
      open.pop()
      const list = open.at(-1)
      if (list?.bracket === '[') list.end = at + 1
    }
  }
  const level = open.findIndex(({ bracket, end }) => bracket === '[' && end !== undefined)
  if (level < 0) return undefined
  const closing = open.slice(0, level + 1).map(({ bracket }) => CLOSING[bracket]!)
  try {
    return parseLogJson(text.slice(0, open[level]!.end) + closing.reverse().join(''))
  } catch {
    return undefined
  }
}
