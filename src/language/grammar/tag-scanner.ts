/** A tag found in a text: `<name>` or `</name>`. Offsets are relative to that text. */
export interface FoundTag {
  kind: 'tag'
  start: number
  end: number
  closing: boolean
  name: string
}

/** The text ends within a possible tag that starts at `start`. */
interface Undecided {
  kind: 'undecided'
  start: number
}

/** Longer names are not tags, which limits how much a streaming parser has to buffer. */
const LONGEST_NAME = 64

const SLASH = 47
const GREATER = 62

/** Letters and underscore may start a name; digits, dot and hyphen may follow. */
const nameCharacter = new Uint8Array(128)
for (const character of 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_')
  nameCharacter[character.charCodeAt(0)] = 1
for (const character of '0123456789.-') nameCharacter[character.charCodeAt(0)] = 2

/**
 * The next tag at or after `from`. Candidates are found with indexOf, which is fast, because most of a stream has no
 * `<`.
 */
export function nextTag(text: string, from: number): FoundTag | Undecided | null {
  for (let start = text.indexOf('<', from); start !== -1; start = text.indexOf('<', start + 1)) {
    let at = start + 1
    const closing = text.charCodeAt(at) === SLASH
    if (closing) at++
    const nameStart = at
    const limit = nameStart + LONGEST_NAME
    while (at < text.length && at <= limit) {
      const code = text.charCodeAt(at)
      const role = code < 128 ? nameCharacter[code]! : 0
      if (role === 0 || (role === 2 && at === nameStart)) break
      at++
    }
    if (at > limit) continue
    if (at === text.length) return { kind: 'undecided', start }
    if (at > nameStart && text.charCodeAt(at) === GREATER) {
      return { kind: 'tag', start, end: at + 1, closing, name: text.slice(nameStart, at) }
    }
  }
  return null
}
